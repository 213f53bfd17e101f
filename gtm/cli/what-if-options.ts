/** Options of `gtm what-if`: regions, overrides and numbers of the policy that are to be otherwise. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { WhatIfBody } from "#gtm/wire/admin/what-if.ts";
import { CliFailure, EXIT } from "./failure.ts";

export type Pairs<Value> = Readonly<Record<string, Value>>;

/** Kinds that take a region's glob and nothing else. */
const KINDS = ["deny", "force", "drain-new", "drain-all"] as const;

export type WhatIfWishes = {
  readonly region: Pairs<string>;
  readonly policy: Pairs<number>;
  readonly last: number;
  readonly deny: readonly string[];
  readonly force: readonly string[];
  readonly drainNew: readonly string[];
  readonly drainAll: readonly string[];
  readonly share: Pairs<number>;
  readonly pool?: string;
  readonly model?: string;
  readonly tenant?: string;
};

export const withWhatIfOptions = (command: Command): Command => {
  command.option("--region <region=state>", "a region and what would be ordered of it; repeat for several", pair, {});
  for (const kind of KINDS) {
    const what = `an override ${kind} for the regions that the glob matches; repeat for several`;
    command.addOption(new Option(`--${kind} <glob>`, what).argParser(added).default([], "none"));
  }
  return command
    .option("--share <glob=fraction>", "an override share: so much at most of what is placed anew", number, {})
    .option("--pool <glob>", "these overrides are about this pool only")
    .option("--model <glob>", "… this model only")
    .option("--tenant <glob>", "… this tenant only")
    .option("--policy <field=number>", "a number of the policy; repeat for several", number, {})
    .option("--last <n>", "how many turns, at most 2000", whole, 500);
};

/** @throws {CliFailure} where some traffic is named and no override that is about it */
export const bodyOf = (wishes: WhatIfWishes): Partial<WhatIfBody> => {
  const { region, policy, last, pool, model, tenant } = wishes;
  const about = { pool, model, tenant };
  const globs = { deny: wishes.deny, force: wishes.force, "drain-new": wishes.drainNew, "drain-all": wishes.drainAll };
  const overrides = [
    ...KINDS.flatMap((kind) => globs[kind].map((one) => ({ kind, region: one, ...about }))),
    ...Object.entries(wishes.share).map(([one, share]) => ({ kind: "share", share, region: one, ...about })),
  ];
  if (overrides.length === 0 && [pool, model, tenant].some((one) => one !== undefined)) {
    const options = [...KINDS, "share"].map((kind) => `--${kind}`).join(", ");
    throw new CliFailure(EXIT.usage, `--pool, --model and --tenant say what an override is about: add ${options}`);
  }
  return { regions: region, overrides, policy, last } as Partial<WhatIfBody>;
};

export const pair = (text: string, before: Pairs<string>): Pairs<string> => {
  const [, name, value] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return { ...before, [name]: value };
  throw new InvalidArgumentError("It must be a name, =, and a value, such as eu-central=drain-all.");
};

export const number = (text: string, before: Pairs<number>): Pairs<number> => {
  const [, name, value] = /^([^=]+)=([0-9.]+)$/.exec(text) ?? [];
  if (name !== undefined && Number.isFinite(Number(value))) return { ...before, [name]: Number(value) };
  throw new InvalidArgumentError("It must be a name, =, and a number, such as marginMs=200.");
};

const added = (text: string, before: readonly string[]): readonly string[] => [...before, text];

const whole = (text: string): number => {
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
};
