/** A word about a state: its colour says how bad it is, and so does its sign, for who sees no colours. */
import type { ComponentChildren } from "preact";

export type Tone = "good" | "warn" | "bad" | "quiet";

const SIGNS: Readonly<Record<Tone, string>> = { good: "●", warn: "▲", bad: "■", quiet: "○" };

export const Chip = ({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) => (
  <span class={`chip ${tone}`}>
    <span aria-hidden="true">{SIGNS[tone]}</span> {children}
  </span>
);

const HEALTH: Readonly<Record<string, Tone>> = { healthy: "good", degraded: "warn", silent: "bad", unhealthy: "bad" };
export const HealthChip = ({ health }: { readonly health: string }) => (
  <Chip tone={HEALTH[health] ?? "quiet"}>{health}</Chip>
);

const ADMIN: Readonly<Record<string, Tone>> = {
  active: "good",
  "forced-up": "warn",
  "drain-new": "warn",
  "drain-all": "warn",
  down: "bad",
};
export const AdminChip = ({ admin }: { readonly admin: string }) => <Chip tone={ADMIN[admin] ?? "quiet"}>{admin}</Chip>;

const VERDICTS: Readonly<Record<string, Tone>> = {
  pinned: "good",
  placed: "good",
  migrated: "warn",
  displaced: "warn",
  unserved: "bad",
};
export const VerdictChip = ({ kind }: { readonly kind: string }) => (
  <Chip tone={VERDICTS[kind] ?? "quiet"}>{kind}</Chip>
);
