/** The log of one fault, as people read it: what was done, what the GTMs said of it, what clients saw. */
import type { Said } from "./child.ts";
import type { GtmName } from "./history.ts";

export type StoryLog = {
  readonly note: (what: string) => void;
  /** Keeps what concerns the fault. */
  readonly heard: (name: GtmName, said: Said) => void;
  readonly figures: (lines: readonly string[]) => void;
  /** What a GTM called an error: a person must act, or it has a bug. */
  readonly errors: () => readonly string[];
  /** To standard output. */
  readonly print: () => void;
};

/** Fields that say which. */
const TOLD: Readonly<Record<string, readonly string[]>> = {
  "store.away": [],
  "store.reached": [],
  "degraded.began": ["what"],
  "degraded.ended": ["what", "lastedMs"],
  "orders.restored": ["how"],
  "ages.frozen": ["cause"],
  "ages.thawed": ["frozenMs"],
  "probe.down": ["region"],
  "probe.up": ["region"],
  "report.refused": ["agent", "reason"],
  "world.restored": ["reports", "ageMs"],
  "process.stopped": [],
};

export const createStoryLog = (title: string): StoryLog => {
  const startedAtMs = performance.now();
  const lines: string[] = [];
  const errors: string[] = [];
  const add = (who: string, what: string): void => {
    const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(2);
    lines.push(`  ${seconds.padStart(6)} s  ${who.padEnd(6)} ${what}`);
  };
  return {
    note: (what) => add("", what),
    heard: (name, said) => {
      if (said["level"] === "error") {
        errors.push(`${name}: ${JSON.stringify(said)}`);
        add(name, JSON.stringify(said));
      }
      const fields = TOLD[said.event];
      if (fields !== undefined) add(name, [said.event, ...fields.map((field) => shownField(said, field))].join(" "));
    },
    figures: (figures) => {
      for (const line of figures) lines.push(`            ${line}`);
    },
    errors: () => errors,
    print: () => {
      process.stdout.write(`\n${title}\n${lines.join("\n")}\n`);
    },
  };
};

const shownField = (said: Said, field: string): string =>
  field.endsWith("Ms") ? `${said[field]} ms` : String(said[field]);
