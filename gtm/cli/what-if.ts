/** `gtm what-if`: the latest turns decided again with a region drained, or another policy. */
import { type Command, InvalidArgumentError } from "commander";
import { WhatIfAnswer } from "#gtm/wire/admin/what-if.ts";
import { apiCommand, invocationOf, printOne } from "./api-command.ts";
import type { CliIo } from "./io.ts";
import { age, count, milliseconds } from "./quantity.ts";
import { facts, table } from "./table.ts";

type Pairs<Value> = Readonly<Record<string, Value>>;

export const whatIfCommand = (io: CliIo): Command =>
  apiCommand("what-if", "decide the latest turns again with regions or policy changed; nothing is changed", [
    "what-if --region eu-central=drain-all",
    "what-if --policy marginMs=200 --policy marginFraction=0.2 --last 2000",
  ])
    .option("--region <region=state>", "a region and what would be ordered of it; more than once for several", pair, {})
    .option("--policy <field=number>", "a number of the policy; more than once for several", number, {})
    .option("--last <n>", "how many turns, at most 2000", whole, 500)
    .action(async (options: { region: Pairs<string>; policy: Pairs<number>; last: number }, command: Command) => {
      const invocation = invocationOf(command, io);
      const body = { regions: options.region, policy: options.policy, last: options.last };
      const answer = await invocation.client.call({ method: "POST", path: "/what-if", body });
      printOne(invocation, answer.body, WhatIfAnswer, (one) => whatIfText(one, io.isColourful));
    });

export const pair = (text: string, before: Pairs<string>): Pairs<string> => {
  const [, name, value] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return { ...before, [name]: value };
  throw new InvalidArgumentError("It must be a name, =, and a value, such as eu-central=drain-all.");
};

export const number = (text: string, before: Pairs<number>): Pairs<number> => {
  const [, name, value] = /^([^=]+)=([0-9.]+)$/.exec(text) ?? [];
  if (name !== undefined && Number.isFinite(Number(value))) return { ...before, [name]: Number(value) };
  throw new InvalidArgumentError("It must be a field, =, and a number, such as marginMs=200.");
};

const whole = (text: string): number => {
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
};

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
