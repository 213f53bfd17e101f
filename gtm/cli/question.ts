/** The options of a question about a turn, as `gtm explain` and `gtm snapshot` take them. */
import { type Command, InvalidArgumentError } from "commander";
import { CliFailure, EXIT } from "./failure.ts";

export type Question = {
  readonly pool?: string;
  readonly model?: string;
  readonly client?: string;
  readonly conversation?: string;
  readonly tenant?: string;
  readonly promptTokens?: number;
  readonly outputTokens?: number;
};

export const withQuestion = (command: Command): Command =>
  command
    .option("--pool <pool>", "the pool that is asked")
    .option("--client <address>", "the client's address or network; only its /24 or /48 is looked at")
    .option("--model <model>", "one of the pool's models or an alias; else its first")
    .option("--conversation <label>", "its label or id; else it is a first turn")
    .option("--tenant <tenant>", "whose conversation it is")
    .option("--prompt-tokens <n>", "tokens of the whole prompt, context included", tokens)
    .option("--output-tokens <n>", "tokens that the answer will have", tokens);

/** As the API's fields are called. @throws {CliFailure} usage, where what a question needs is missing */
export const questionBody = (question: Question) => {
  const { pool, model, client, conversation, tenant, promptTokens, outputTokens } = question;
  if (pool === undefined) throw missing("--pool <pool>");
  if (client === undefined) throw missing("--client <address>");
  return { pool, model, client, conversation, tenant, prompt_tokens: promptTokens, output_tokens: outputTokens };
};

const missing = (option: string): CliFailure => new CliFailure(EXIT.usage, `required option '${option}' not specified`);

const tokens = (text: string): number => {
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number of tokens.");
};
