/** The orders that may be given about a region, as the API and as the command line know them. */

type Verb = "drain" | "undrain" | "down" | "up";
export type RegionOrder = {
  readonly title: string;
  readonly verb: Verb;
  readonly body: Readonly<Record<string, unknown>>;
  readonly words: readonly string[];
  /** It takes something back, which needs neither a reason nor an end. */
  readonly takesBack: boolean;
  /** Conversations may leave by and by. */
  readonly isPaced: boolean;
};

const order = (title: string, verb: Verb, mode: string | null): RegionOrder => ({
  ...{ title, verb, takesBack: false, isPaced: mode === "drain-all" },
  ...(mode === null ? { body: {}, words: [] } : { body: { mode }, words: ["--mode", mode] }),
});

export const REGION_ORDERS: Readonly<Record<string, RegionOrder>> = {
  "drain-new": order("Drain: take no new conversations", "drain", "drain-new"),
  "drain-all": order("Drain: let all conversations leave", "drain", "drain-all"),
  down: order("Down: serve nothing", "down", null),
  undrain: { ...order("Take the drain back", "undrain", null), takesBack: true },
  up: { ...order("Take it back: monitoring decides", "up", null), takesBack: true },
  "forced-up": { ...order("Force up: ignore monitoring", "up", null), body: { forced: true }, words: ["--forced"] },
};

/** What may follow what is ordered now; drain is not down. */
const AFTER: Readonly<Record<string, readonly string[]>> = {
  active: ["drain-new", "drain-all", "down", "forced-up"],
  "drain-new": ["undrain", "drain-all", "down"],
  "drain-all": ["undrain", "drain-new", "down"],
  down: ["up"],
  "forced-up": ["up", "drain-new", "drain-all", "down"],
};

export const ordersAfter = (admin: string): readonly string[] => AFTER[admin] ?? [];

type Said = {
  readonly region: string;
  readonly comment: string;
  readonly lasting: string;
  /** By when all have left; "": each at its next turn. */
  readonly over: string;
};

/** The same order as a request and as a command line. */
export const orderAsked = (chosen: RegionOrder, { region, comment, lasting, over }: Said) => {
  const isPaced = chosen.isPaced && over !== "";
  const isEnding = !chosen.takesBack && lasting !== "";
  return {
    path: `/regions/${encodeURIComponent(region)}/${chosen.verb}`,
    body: {
      ...chosen.body,
      ...(comment === "" ? {} : { comment }),
      ...(isEnding ? { for: lasting } : {}),
      ...(isPaced ? { over } : {}),
    },
    words: [
      ...[chosen.verb, region, ...chosen.words],
      ...(comment === "" ? [] : ["--comment", comment]),
      ...(isEnding ? ["--for", lasting] : []),
      ...(isPaced ? ["--over", over] : []),
    ],
  };
};
