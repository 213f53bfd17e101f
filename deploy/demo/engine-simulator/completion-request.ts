/** A chat or text completion as a client asks for it, reduced to what an engine needs to know. */
import { z } from "zod";
import { type ApiError, apiError } from "./openai-error.ts";
import { promptOfChat } from "./prompt.ts";

export type Asked = {
  readonly kind: "chat" | "text";
  readonly model: string;
  readonly prompt: string;
  readonly maxTokens: number | null;
  readonly isEosIgnored: boolean;
  readonly isStream: boolean;
  readonly isUsageWanted: boolean;
};

const count = z.int().min(1).nullish();
const shared = {
  model: z.string(),
  max_tokens: count,
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  /** One answer only. */
  n: z.literal(1).nullish(),
  /** vLLM's own: write all of max_tokens. */
  ignore_eos: z.boolean().nullish(),
};
const ChatBody = z.looseObject({
  ...shared,
  max_completion_tokens: count,
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })).min(1),
});
const TextBody = z.looseObject({
  ...shared,
  prompt: z.union([z.string(), z.tuple([z.string()]).transform(([only]) => only)]),
});

/** @param body parsed JSON */
export const readCompletion = (kind: Asked["kind"], body: unknown): Asked | ApiError => {
  if (kind === "text") {
    const parsed = TextBody.safeParse(body);
    return parsed.success ? asked(kind, parsed.data, parsed.data.prompt, null) : refusal(parsed.error);
  }
  const parsed = ChatBody.safeParse(body);
  if (!parsed.success) return refusal(parsed.error);
  return asked(kind, parsed.data, promptOfChat(parsed.data.messages), parsed.data.max_completion_tokens ?? null);
};

export const isApiError = (read: Asked | ApiError): read is ApiError => "status" in read;

type Shared = z.infer<z.ZodObject<typeof shared>>;

const asked = (kind: Asked["kind"], body: Shared, prompt: string, maxTokens: number | null): Asked => ({
  kind,
  model: body.model,
  prompt,
  maxTokens: maxTokens ?? body.max_tokens ?? null,
  isEosIgnored: body.ignore_eos ?? false,
  isStream: body.stream ?? false,
  isUsageWanted: body.stream_options?.include_usage ?? false,
});

const refusal = (error: z.ZodError): ApiError =>
  apiError(400, z.prettifyError(error), error.issues[0]?.path.join(".") ?? null);
