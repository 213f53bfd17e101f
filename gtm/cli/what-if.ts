/** `gtm what-if`: the latest turns decided again with regions, overrides or the policy changed. */
import type { Command } from "commander";
import { WhatIfAnswer } from "#gtm/wire/admin/what-if.ts";
import { apiCommand, invocationOf, printOne } from "./api-command.ts";
import type { CliIo } from "./io.ts";
import { age, count, milliseconds } from "./quantity.ts";
import { facts, table } from "./table.ts";
import { bodyOf, type WhatIfWishes, withWhatIfOptions } from "./what-if-options.ts";

export const whatIfCommand = (io: CliIo): Command =>
  withWhatIfOptions(
    apiCommand(
      "what-if",
      "decide the latest turns again with regions, overrides or policy changed; nothing is changed",
      [
        "what-if --region eu-central=drain-all",
        "what-if --deny us-east --tenant acme",
        "what-if --share eu-central=0.2 --drain-new us-east",
        "what-if --policy marginMs=200 --policy marginFraction=0.2 --last 2000",
      ],
    ),
  ).action(async (options: WhatIfWishes, command: Command) => {
    const invocation = invocationOf(command, io);
    const answer = await invocation.client.call({ method: "POST", path: "/what-if", body: bodyOf(options) });
    printOne(invocation, answer.body, WhatIfAnswer, (one) => whatIfText(one, io.isColourful));
  });

const whatIfText = ({ decisions, oldestMs, before, after, moved }: WhatIfAnswer, isColourful: boolean): string => {
  if (decisions === 0) return "This instance remembers no turn.\n";
  const regions = [...new Set([...before.regions, ...after.regions].map(({ region }) => region))];
  const timesIn = (side: WhatIfAnswer["before"], region: string | null): string =>
    count(side.regions.find((one) => one.region === region)?.decisions ?? 0);
  const both = (of: (side: WhatIfAnswer["before"]) => string): string => `${of(before)} → ${of(after)}`;
  return [
    `${count(decisions)} turns of the last ${age(oldestMs)}, decided again as of now:\n`,
    table(
      [{ header: "REGION" }, { header: "NOW", align: "right" }, { header: "CHANGED", align: "right" }],
      regions.map((region) => [region ?? "(no region)", timesIn(before, region), timesIn(after, region)]),
      isColourful,
    ),
    facts([
      ["first token, mean", both((side) => milliseconds(side.predictedTtftMeanMs))],
      ["first token, p95", both((side) => milliseconds(side.predictedTtftP95Ms))],
      ["over 3 s", both((side) => count(side.overThreeSeconds))],
      ["tokens computed again", both((side) => count(side.recomputeTokens))],
      ["would go elsewhere", count(moved.reduce((sum, one) => sum + one.decisions, 0))],
    ]),
    "Queues are those of now: what the change itself would do to them, gtm simulate --from-decisions plays.\n",
  ].join("\n");
};
