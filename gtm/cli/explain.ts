/** `gtm explain`: where a turn would go now, or would have gone at a snapshot, and why, without sending one. */
import type { Command } from "commander";
import { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import { apiCommand, invocationOf, printOne } from "./api-command.ts";
import { decisionText } from "./decision-text.ts";
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
      "explain --offline snapshot.json",
      "explain --offline snapshot.json --region eu-central=drain-all --policy marginMs=200",
    ]),
  )
    .option("--offline <file>", "by what `gtm snapshot` wrote: no GTM is asked")
    .option("--region <region=state>", "with --offline: what would be ordered of a region; may be repeated", pair, {})
    .option("--policy <field=number>", "with --offline: a number of the policy; may be repeated", number, {})
    .action(async (options: Options, command: Command) => {
      const invocation = invocationOf(command, io);
      const { offline, region, policy } = options;
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
