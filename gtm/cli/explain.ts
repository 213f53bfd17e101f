/** `gtm explain`: where a turn would go now, and why, without sending one. */
import { type Command, InvalidArgumentError } from "commander";
import { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import { apiCommand, invocationOf, printOne } from "./api-command.ts";
import { decisionText } from "./decision-text.ts";
import type { CliIo } from "./io.ts";

type Options = {
  readonly pool: string;
  readonly model?: string;
  readonly client: string;
  readonly conversation?: string;
  readonly tenant?: string;
  readonly promptTokens?: number;
  readonly outputTokens?: number;
};

export const explainCommand = (io: CliIo): Command =>
  apiCommand("explain", "say where a turn would go and why; nothing is recorded", [
    "explain --pool chat --client 203.0.113.7",
    "explain --pool chat --client 203.0.113.7 --conversation 4q8t1v7k0c2me --prompt-tokens 18432",
  ])
    .requiredOption("--pool <pool>", "the pool that is asked")
    .requiredOption("--client <address>", "the client's address or network; only its /24 or /48 is looked at")
    .option("--model <model>", "one of the pool's models or an alias; else its first")
    .option("--conversation <label>", "its label or id; else it is a first turn")
    .option("--tenant <tenant>", "whose conversation it is")
    .option("--prompt-tokens <n>", "tokens of the whole prompt, context included", tokens)
    .option("--output-tokens <n>", "tokens that the answer will have", tokens)
    .action(async (options: Options, command: Command) => {
      const invocation = invocationOf(command, io);
      const { pool, model, client, conversation, tenant, promptTokens, outputTokens } = options;
      const { body } = await invocation.client.call({
        method: "POST",
        path: "/explain",
        body: { pool, model, client, conversation, tenant, prompt_tokens: promptTokens, output_tokens: outputTokens },
      });
      printOne(invocation, body, DecisionSchema, (decision) => decisionText(decision, io.isColourful));
    });

const tokens = (text: string): number => {
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number of tokens.");
};
