/** Whether a GTM that starts while the store is away would know anything. Pure. */
import { age } from "#gtm/cli/quantity.ts";
import { counted, type Finding, ok, problem, warning } from "./finding.ts";
import type { WorldFileFacts } from "./world-file-facts.ts";

export type WorldFileInputs = {
  /** null: none is configured. */
  readonly facts: WorldFileFacts | null;
  /** Whether the store is more than this process's own memory. */
  readonly isShared: boolean;
  readonly nowEpochMs: number;
};

/** A running GTM writes it every five seconds. */
const UNWRITTEN_MS = 60_000;
/** Older reports are not used (gtm/datalayer/world-file.ts). */
const UNUSABLE_MS = 86_400_000;

export const worldFileFindings = ({ facts, isShared, nowEpochMs }: WorldFileInputs): readonly Finding[] => {
  if (facts !== null) return [...writeFindings(facts), ...roomFindings(facts), contentFinding(facts, nowEpochMs)];
  if (!isShared)
    return [ok("world-file", "No world file is configured, and none is needed: the store is this process.")];
  return [
    warning(
      "world-file-none",
      "No world file is configured: a GTM that starts while the store is away knows no region's state.",
      "Set `store.world_file: /var/lib/llm-gtm/world.json`, a path of each GTM's own.",
    ),
  ];
};

const writeFindings = ({ path, writeFault }: WorldFileFacts): readonly Finding[] =>
  writeFault === null
    ? []
    : [
        problem(
          "world-file-unwritable",
          `${path} cannot be replaced by the user that runs this: ${writeFault}.`,
          "Make its folder, owned by the user that runs the GTM: `install -d -o USER DIR`; or run doctor as that user.",
        ),
      ];

/** It is written beside itself first; a large one has some megabytes. */
const LEAST_FREE_BYTES = 50_000_000;

const roomFindings = ({ path, freeBytes }: WorldFileFacts): readonly Finding[] =>
  freeBytes === null || freeBytes >= LEAST_FREE_BYTES
    ? []
    : [
        problem(
          "world-file-disk",
          `The disk of ${path} has ${(freeBytes / 1e6).toFixed(1)} MB left: soon the file cannot be replaced.`,
          `Make room (\`df -h ${path}\`), or name a path on another disk in store.world_file.`,
        ),
      ];

const contentFinding = ({ path, content }: WorldFileFacts, nowEpochMs: number): Finding => {
  const remedy = "Start the GTM with this configuration: it writes the file every 5 s while the store answers.";
  if (content.kind === "absent") return warning("world-file-absent", `${path} is not there yet.`, remedy);
  if (content.kind === "faulty") {
    return problem(
      "world-file-faulty",
      `${path} cannot be used: ${content.detail}.`,
      `Delete it: \`rm ${path}\`. ${remedy}`,
    );
  }
  const ageMs = nowEpochMs - content.savedAtMs;
  const saved = `${path} was saved ${age(Math.abs(ageMs))} ${ageMs >= 0 ? "ago" : "in the future"} by ${content.instance}`;
  if (Math.abs(ageMs) > UNUSABLE_MS) {
    return problem("world-file-old", `${saved}: a GTM that starts now uses nothing of it but orders.`, remedy);
  }
  if (Math.abs(ageMs) > UNWRITTEN_MS) return warning("world-file-old", `${saved}: nobody writes it.`, remedy);
  return ok("world-file", `${saved}, with ${counted(content.reports, "report")}.`);
};
