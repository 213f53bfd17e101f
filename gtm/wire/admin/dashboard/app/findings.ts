/** What is wrong now, each with since when and where to look. */
import type { RecentView } from "#gtm/wire/admin/routes/recent.ts";
import type { Status } from "#gtm/wire/admin/routes/status.ts";
import { hrefOf } from "./place.ts";
import { age, count, percent } from "./quantity.ts";

export type Finding = {
  readonly tone: "warn" | "bad";
  readonly text: string;
  /** null: nowhere further. */
  readonly href: string | null;
};

/** From this share of turns over three seconds on it is worth a line. */
const SLOW_FRACTION = 0.05;
/** The newest steps of ten seconds that are looked at: five minutes. */
const STEPS = 30;

export const findingsOf = (status: Status, recent: RecentView | null, nowMs: number): readonly Finding[] => [
  ...status.degradations
    // Of each region there is a line of its own below.
    .filter(({ what }) => what !== "regions")
    .map(({ reason, ageMs }) => ({ tone: "warn" as const, text: `${reason} (for ${age(ageMs)})`, href: null })),
  ...status.regions.flatMap(({ id, admin, health, because }) => {
    if (health === "healthy" && admin === "active") return [];
    const since = recent?.since.find(({ region }) => region === id);
    const sinceIso = health === "healthy" ? since?.adminSince : since?.healthSince;
    const lasting = sinceIso === undefined ? "" : `, for ${age(nowMs - Date.parse(sinceIso))}`;
    const isBad = health === "unhealthy" || health === "silent" || admin === "down";
    const finding: Finding = {
      tone: isBad ? "bad" : "warn",
      text: `${id}${lasting}: ${because}${effectOf(id, recent)}`,
      href: hrefOf("regions", id),
    };
    return [finding];
  }),
  ...turnFindings(recent),
];

/** What it did to users: of the turns there those that waited over three seconds; "" where gateways measured none. */
const effectOf = (id: string, recent: RecentView | null): string => {
  const turns = turnsOf(recent).filter(({ region }) => region === id);
  const all = turns.reduce((sum, one) => sum + one.turns, 0);
  const slow = turns.reduce((sum, one) => sum + one.overThreeSeconds, 0);
  return all === 0 ? "" : ` ${count(slow)} of ${count(all)} turns there waited over 3 s, last 5 min.`;
};

const turnsOf = (recent: RecentView | null): RecentView["buckets"][number]["turns"] =>
  recent?.buckets.slice(-STEPS).flatMap((bucket) => bucket.turns) ?? [];

const turnFindings = (recent: RecentView | null): readonly Finding[] => {
  const turns = turnsOf(recent);
  const all = turns.reduce((sum, one) => sum + one.turns, 0);
  const slow = turns.reduce((sum, one) => sum + one.overThreeSeconds, 0);
  const failed = turns.reduce((sum, one) => sum + one.failed, 0);
  return [
    ...(all > 0 && slow / all >= SLOW_FRACTION
      ? [
          {
            tone: "warn" as const,
            text: `${count(slow)} of ${count(all)} turns (${percent(slow / all)}) waited over 3 s for their first token, last 5 min`,
            href: null,
          },
        ]
      : []),
    ...(failed > 0
      ? [{ tone: "bad" as const, text: `${count(failed)} turns failed at their engine, last 5 min`, href: null }]
      : []),
  ];
};
