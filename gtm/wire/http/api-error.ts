/** Errors in the forms that clients of the model APIs parse, so that their users read our sentence and not "307". */
import type { IncomingHttpHeaders } from "node:http";

export type ApiForm = "openai" | "anthropic";

/** Anthropic's clients always name the API's version; everybody else speaks OpenAI's form. */
export const apiFormOf = (headers: IncomingHttpHeaders): ApiForm =>
  headers["anthropic-version"] === undefined ? "openai" : "anthropic";

export type ApiError = {
  readonly message: string;
  readonly type: string;
  /** Which parameter of the request is at fault; null: none. */
  readonly param: string | null;
  readonly code: string;
};

/** @returns JSON text */
export const apiErrorText = (form: ApiForm, error: ApiError): string => {
  switch (form) {
    case "openai":
      return JSON.stringify({ error });
    case "anthropic":
      return JSON.stringify({ type: "error", error: { type: error.type, message: error.message } });
  }
};

export const unknownModel = (form: ApiForm, model: string): ApiError => ({
  message: `The model \`${model}\` does not exist, or no pool of this host serves it.`,
  type: form === "openai" ? "invalid_request_error" : "not_found_error",
  param: "model",
  code: "model_not_found",
});

/** For clients that do not follow redirects. @param region where the request should be sent */
export const followRedirect = (region: string): ApiError => ({
  message: `Region ${region} serves this request: send it again to the URL in the Location header, credentials included.`,
  type: "redirect",
  param: null,
  code: "temporary_redirect",
});
