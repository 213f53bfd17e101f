/** Where the APIs of chats have their prompt: OpenAI's chat completions, responses and completions, Anthropic's messages. */
import { type Member, memberOf, namesOf, type TextOf } from "./member-paths.ts";

const words = (text: TextOf): Member => memberOf({ text });

/** A part of a content: text, or an image, a sound or a file by its data or its address. Marks for caches are passed over. */
const part = (text: TextOf): Member => {
  const word = words(text);
  const source = namesOf([
    ["data", word],
    ["url", word],
    ["text", word],
    ["file_data", word],
    ["file_id", word],
  ]);
  const within = memberOf({ children: source });
  return memberOf({
    children: namesOf([
      ["text", word],
      ["image_url", memberOf({ text, children: source })],
      ["source", within],
      ["input_audio", within],
      ["file", within],
      ["file_data", word],
      ["file_id", word],
      ["file_url", word],
    ]),
  });
};

/** A string, or a list of parts. */
const content = (text: TextOf): Member => memberOf({ text, items: part(text) });

const message = memberOf({
  part: "message",
  children: namesOf([
    ["role", memberOf({ part: "role" })],
    ["content", content("message")],
  ]),
});

const MESSAGES: Readonly<Record<string, Member>> = {
  messages: memberOf({ items: message }),
  /** Anthropic's; beside the messages. */
  system: content("system"),
};
/** `input` elsewhere is what is embedded, or spoken. */
const RESPONSES: Readonly<Record<string, Member>> = {
  input: memberOf({ text: "user", items: message }),
  instructions: words("system"),
};
const COMPLETIONS: Readonly<Record<string, Member>> = {
  prompt: memberOf({ text: "prompt", items: words("prompt") }),
};

export type PromptShape = "messages" | "responses" | "completions";

export const PROMPT_SHAPES: Readonly<Record<PromptShape, Readonly<Record<string, Member>>>> = {
  messages: MESSAGES,
  responses: RESPONSES,
  completions: COMPLETIONS,
};

/** Which of them a path asks; null: none that is a chat, such as embeddings or a list of models. */
export const promptShapeOf = (path: string): PromptShape | null => {
  const [, name] =
    /\/(chat\/completions|messages|responses|completions)(?:\/(?:count_tokens|input_tokens|compact))?\/?$/.exec(path) ??
    [];
  switch (name) {
    case "chat/completions":
    case "messages":
      return "messages";
    case "responses":
    case "completions":
      return name;
    default:
      return null;
  }
};
