/** What clients were told while something broke, and what had happened to the world by then. */

export type GtmName = "gtm-a" | "gtm-b";

/** One question to one GTM, and what came of it. Times are monotonic ms of the test's process. */
export type Told = {
  readonly askedAtMs: number;
  readonly atMs: number;
  readonly gtm: GtmName;
  readonly wire: "http" | "dns";
  /** A turn or a label of this conversation; null: a pool's name or a stranger's label. */
  readonly conversation: string | null;
  /** As the wire says it: 307 and NOERROR are answers. */
  readonly outcome: string;
  /** null: none was named. */
  readonly region: string | null;
  /** Of a turn. */
  readonly verdict: string | null;
};

/** From one moment to another; null: it has not ended. */
export type Span = { readonly fromMs: number; readonly toMs: number | null };

/** No GTM listens there: it was killed or told to stop, and has not started again. */
export type Gone = Span & { readonly gtm: GtmName };

/** A region whose engines are dead, or whose network is cut. */
export type Down = Span & { readonly region: string };

export type Order = {
  /** From then on it may have been heard. */
  readonly askedAtMs: number;
  /** When it was answered. */
  readonly atMs: number;
  readonly region: string;
  /** What it asks for. */
  readonly admin: "active" | "drain-all";
  /** 200: it was taken. */
  readonly status: number;
};

export const isAnswer = ({ outcome }: Told): boolean => outcome === "307" || outcome === "NOERROR";

export const isWithin = ({ fromMs, toMs }: Span, atMs: number): boolean =>
  atMs >= fromMs && (toMs === null || atMs <= toMs);

/** @returns ms of the time from `fromMs` to `toMs` that lies in none of the spans; spans may overlap */
export const outsideOf = (spans: readonly Span[], fromMs: number, toMs: number): number => {
  let [reachedMs, outsideMs] = [fromMs, 0];
  for (const span of [...spans].sort((a, b) => a.fromMs - b.fromMs)) {
    if (span.fromMs >= toMs) break;
    outsideMs += Math.max(0, span.fromMs - reachedMs);
    reachedMs = Math.max(reachedMs, span.toMs ?? toMs);
  }
  return outsideMs + Math.max(0, toMs - reachedMs);
};
