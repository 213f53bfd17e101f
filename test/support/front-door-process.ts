/** A front door in a process of its own, so that its memory is its own; told by messages what to report. */
import { startFrontDoor } from "./front-door.ts";

export type FrontDoorReport =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "memory"; readonly rssBytes: number; readonly peakRssBytes: number };

const BYTES_PER_KIBIBYTE = 1_024;

const front = await startFrontDoor();
const report = (what: FrontDoorReport): void => {
  process.send?.(what);
};
process.on("message", () =>
  report({
    kind: "memory",
    rssBytes: process.memoryUsage.rss(),
    peakRssBytes: process.resourceUsage().maxRSS * BYTES_PER_KIBIBYTE,
  }),
);
process.on("disconnect", () => process.exit());
report({ kind: "listening", port: front.port });
