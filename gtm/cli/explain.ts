/** `gtm explain`: where a turn would go now, or would have gone at a snapshot, and why, without sending one. */
import type { Command } from "commander";
import { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import { apiCommand, invocationOf, printOne } from "./api-command.ts";
import { decisionText } from "./decision-text.ts";
import { showDecision } from "./decisions.ts";
import { explainOffline, type OfflineChanges } from "./explain-offline.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";
import { type Question, questionBody, withQuestion } from "./question.ts";
import { number, pair } from "./what-if-options.ts";

type Options = Question & OfflineChanges & { readonly offline?: string };

export const explainCommand = (io: CliIo): Command =>
  withQuestion(
    apiCommand("explain", "say where a turn would go and why; nothing is recorded", [
      "explain --pool chat --client 203.0.113.7",
      "explain --pool chat --client 203.0.113.7 --conversation 4q8t1v7k0c2me --prompt-tokens 18432",
      "explain 01K5Z6V2QW8Y3N4M7R9T0A1B2C",
      "explain --offline snapshot.json",
      "explain --offline snapshot.json --region eu-central=drain-all --policy marginMs=200",
    ]),
  )
    .argument("[id]", "a decision that was made: why it is as it is, as `decisions show` says it")
    .option("--offline <file>", "by what `gtm snapshot` wrote: no GTM is asked")
    .option("--region <region=state>", "with --offline: what would be ordered of a region; may be repeated", pair, {})
    .option("--policy <field=number>", "with --offline: a number of the policy; may be repeated", number, {})
    .action(async (id: string | undefined, options: Options, command: Command) => {
      const invocation = invocationOf(command, io);
      const { offline, region, policy } = options;
      if (id !== undefined) {
        mustBeAlone(options);
        await showDecision(invocation, id);
        return;
      }
      if (offline === undefined && Object.keys({ ...region, ...policy }).length > 0) {
        throw new CliFailure(
          EXIT.usage,
          "--region and --policy need --offline; of a GTM that runs, `gtm what-if` asks that",
        );
      }
      const body =
        offline === undefined
          ? (await invocation.client.call({ method: "POST", path: "/explain", body: questionBody(options) })).body
          : await explainOffline(offline, options, io);
      printOne(invocation, body, DecisionSchema, (decision) => decisionText(decision, io.isColourful));
    });

/** @throws {CliFailure} where something else is asked beside a decision that was made */
const mustBeAlone = ({ offline, region, policy, ...question }: Options): void => {
  const asked = ["pool", "client", "conversation", "model", "tenant", "promptTokens", "outputTokens"] as const;
  if (offline === undefined && asked.every((name) => question[name] === undefined)) return;
  throw new CliFailure(EXIT.usage, "a decision that was made is explained as it was: nothing goes with its id");
};
