/** Options that say what a token may do. */
import { type Command, InvalidArgumentError } from "commander";
import { ActorName, HostName } from "#gtm/wire/admin/tokens-file.ts";

export type LimitOptions = {
  readonly names?: string[];
  readonly regions?: string[];
  readonly pools?: string[];
  readonly tenants?: string[];
};

export const limitOptions = (command: Command): Command =>
  command
    .option("--regions <globs>", "may order of these regions only, apart by commas; * matches any run", globs)
    .option("--pools <globs>", "may see and order about these pools only", globs)
    .option("--tenants <globs>", "may see and order about these tenants only", globs)
    .option("--names <names>", "with --role acme: for certificates of these names only, apart by commas", hostNames);

export const limitsIn = ({ names, regions, pools, tenants }: LimitOptions): LimitOptions => ({
  ...(names === undefined ? {} : { names }),
  ...(regions === undefined ? {} : { regions }),
  ...(pools === undefined ? {} : { pools }),
  ...(tenants === undefined ? {} : { tenants }),
});

const globs = (text: string): string[] => {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.every((part) => /^[\x21-\x7e]{1,128}$/.test(part))) return parts;
  throw new InvalidArgumentError("It must be names or globs such as eu-*, apart by commas.");
};

/** A wildcard's challenge stands at the name above it. */
const hostNames = (text: string): string[] =>
  text.split(",").map((part) => {
    const name = HostName.safeParse(part.trim().replace(/^\*\./, ""));
    if (name.success) return name.data;
    throw new InvalidArgumentError(`"${part}" ${name.error.issues[0]?.message ?? "is no name"}.`);
  });

export const aName = (text: string): string => {
  const name = ActorName.safeParse(text);
  if (name.success) return name.data;
  throw new InvalidArgumentError(`It ${name.error.issues[0]?.message ?? "is no name"}.`);
};
