/** The last quarter of an hour as somebody sees it who may see a part of the traffic. */
import type { Entry } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import { isLimited, regionsSeen, seesEntry } from "./access.ts";
import type { Actor } from "./auth.ts";
import type { AdminPorts } from "./ports.ts";
import { createRecent, type Recent } from "./recent.ts";

type Parts = {
  readonly ports: Pick<AdminPorts, "decisions" | "pools">;
  readonly clock: Clock;
  readonly recent: Recent;
};

const PAGE = 500;

/**
 * What all see is counted as it happens, by nobody's pool or tenant; for others it is counted again, from the decisions that this
 * instance remembers. What gateways measured is summed by region, so that nobody can tell whose turns those were: they see none.
 */
export const recentFor = (actor: Actor, { ports, clock, recent }: Parts): Recent => {
  if (!isLimited(actor)) return recent;
  const now = { monotonicMs: clock.monotonicMs(), epochMs: clock.epochMs() };
  const at = { epochMs: now.epochMs };
  const own = createRecent({ epochMs: () => at.epochMs });
  for (const entry of remembered(ports)
    .filter((one) => seesEntry(actor, one))
    .reverse()) {
    at.epochMs = now.epochMs - (now.monotonicMs - entry.query.receivedAtMs);
    own.happened({ seq: 0, kind: "decision", entry });
  }
  at.epochMs = now.epochMs;
  const seen = regionsSeen(actor, ports.pools);
  return {
    ...own,
    changes: () => recent.changes().filter(({ region }) => seen === null || seen.has(region)),
    since: recent.since,
  };
};

/** Newest first. */
const remembered = ({ decisions }: Pick<AdminPorts, "decisions">): readonly Entry[] => {
  const any = { pool: null, region: null, verdict: null, channel: null, conversation: null } as const;
  const entries: Entry[] = [];
  let cursor: string | null = null;
  do {
    const page: ReturnType<typeof decisions.list> = decisions.list({ ...any, limit: PAGE, cursor });
    entries.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return entries;
};
