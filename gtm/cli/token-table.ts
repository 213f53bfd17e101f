/** Tokens as a person reads them: whose, what they may, how old, and how long still. */

import { ageText } from "#gtm/wire/admin/quantity-text.ts";
import type { TokenView } from "#gtm/wire/admin/token-view.ts";
import type { Cell } from "./cell.ts";
import type { Look } from "./fitted.ts";
import { table } from "./table.ts";

const agoText = (ms: number | null): string => (ms === null ? "never" : `${ageText(ms)} ago`);
const leftText = ({ state, expiresInMs }: TokenView): string => {
  if (state !== "active") return state;
  return expiresInMs === null ? "no end" : ageText(expiresInMs);
};

/** "regions eu-*; tenants acme"; "everything": not limited. */
export const limitsText = ({
  regions,
  pools,
  tenants,
  names,
}: Pick<TokenView, "regions" | "pools" | "tenants" | "names">): string => {
  const limits = Object.entries({ regions, pools, tenants, names });
  const said = limits.flatMap(([what, globs]) => (globs === null ? [] : [`${what} ${globs.join(", ")}`]));
  return said.length === 0 ? "everything" : said.join("; ");
};

export const tokenTable = (items: readonly TokenView[], look: Look): string =>
  table(
    [
      { header: "TOKEN" },
      { header: "NAME", canShorten: true },
      { header: "ROLE" },
      { header: "LEFT", align: "right" },
      { header: "USED", align: "right" },
      { header: "MADE", align: "right", leave: 2 },
      { header: "BY", leave: 1 },
      { header: "MAY", canShorten: true },
      { header: "WHY", canShorten: true },
    ],
    items.map((one): Cell[] => [
      ...[one.id, one.name, one.role],
      one.state === "active" ? leftText(one) : { text: leftText(one), colour: "dim" },
      agoText(one.lastUsedMsAgo),
      one.createdMsAgo === null ? "" : agoText(one.createdMsAgo),
      one.createdBy ?? "the file",
      limitsText(one),
      one.comment ?? "",
    ]),
    look,
  );

export const tokenFacts = (one: TokenView): readonly (readonly [name: string, value: string])[] => [
  ["id", one.id],
  ["name", one.name],
  ["role", one.role],
  ["may", limitsText(one)],
  ["left", leftText(one)],
  ["comment", one.comment ?? "–"],
];
