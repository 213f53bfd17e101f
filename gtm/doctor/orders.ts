/** Whether the store has the operators' orders, and none that is older than what others know. Pure. */
import { counted, type Finding, ok, problem, unknown, warning } from "./finding.ts";
import type { OrdersFacts } from "./orders-facts.ts";

/** Revisions of the orders that were seen elsewhere; null: not known. */
export type KnownRevs = { readonly gtm: number | null; readonly worldFile: number | null };

export const orderFindings = (facts: OrdersFacts, known: KnownRevs): readonly Finding[] => {
  switch (facts.kind) {
    case "unknown":
      return [unknown("orders", `The operators' orders are not known: ${facts.why}.`)];
    case "refused":
      return [
        problem(
          "orders-unreadable",
          `What stands at gtm:v1:orders is no record of orders (${facts.detail}): drains and downs cannot be changed.`,
          "Keep a copy (`redis-cli get gtm:v1:orders`) and delete it (`redis-cli del gtm:v1:orders`): the GTMs put back what they know.",
        ),
      ];
    case "absent":
      return behind(0, known) ?? [ok("orders", "Nobody has ordered anything.")];
    case "found":
      return (
        behind(facts.rev, known) ?? [
          ok(
            "orders",
            `Orders stand at revision ${facts.rev}: ${counted(facts.regions, "region")}, ${counted(facts.overrides, "override")}.`,
          ),
        ]
      );
  }
};

const behind = (rev: number, { gtm, worldFile }: KnownRevs): readonly Finding[] | null => {
  const most = Math.max(gtm ?? 0, worldFile ?? 0);
  if (most <= rev) return null;
  const who = (gtm ?? 0) === most ? "the running GTM" : "the world file";
  return [
    warning(
      "orders-behind",
      `The store has revision ${rev} of the orders, and ${who} has ${most}: the store lost some.`,
      "A running GTM puts them back by itself within seconds; if this stays, read the GTM's log for `orders`.",
    ),
  ];
};
