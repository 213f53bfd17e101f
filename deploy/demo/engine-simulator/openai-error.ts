/** Errors as vLLM words them in OpenAI's form, so that clients' libraries recognise them. */

export type ApiError = {
  readonly status: number;
  readonly body: {
    readonly error: {
      readonly message: string;
      readonly type: string;
      readonly param: string | null;
      readonly code: number;
    };
  };
};

export const apiError = (status: number, message: string, param: string | null = null): ApiError => ({
  status,
  body: { error: { message, type: TYPES[status] ?? "InternalServerError", param, code: status } },
});

const TYPES: Readonly<Record<number, string>> = {
  400: "BadRequestError",
  404: "NotFoundError",
  405: "MethodNotAllowedError",
  413: "RequestTooLargeError",
  503: "ServiceUnavailableError",
};
