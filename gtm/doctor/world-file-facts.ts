/** The world file as it lies on disk: whether it is there, can be replaced, and what it holds. */
import { access, constants, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { readWhole } from "#gtm/datalayer/world-file-disk.ts";
import { worldFileOf } from "#gtm/datalayer/world-file-format.ts";

export type WorldFileFacts = {
  readonly path: string;
  /** Why this user may not write beside it; null: he may. */
  readonly writeFault: string | null;
  /** Octets that this user may still write on its disk; null: not known. */
  readonly freeBytes: number | null;
  readonly content:
    | { readonly kind: "absent" }
    | { readonly kind: "faulty"; readonly detail: string }
    | {
        readonly kind: "sound";
        /** Epoch ms, by the clock of who saved it. */
        readonly savedAtMs: number;
        readonly instance: string;
        readonly reports: number;
        readonly ordersRev: number;
      };
};

/** Never rejects for what the file system says. */
export const readWorldFileFacts = async (path: string): Promise<WorldFileFacts> => {
  const writeFault = await access(dirname(path), constants.W_OK | constants.X_OK).then(
    () => null,
    (fault: unknown) => (fault instanceof Error ? fault.message : String(fault)),
  );
  const freeBytes = await statfs(dirname(path)).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => null,
  );
  return { path, writeFault, freeBytes, content: await contentOf(path) };
};

const contentOf = async (path: string): Promise<WorldFileFacts["content"]> => {
  const found = await readWhole(path);
  if (found.kind === "absent") return { kind: "absent" };
  if (found.kind === "failed") return { kind: "faulty", detail: found.detail };
  const reading = worldFileOf(found.text);
  if (reading.kind === "refused") return { kind: "faulty", detail: `${reading.reason}, ${reading.detail}` };
  const { savedAtMs, instance, reports, orders } = reading.file;
  return { kind: "sound", savedAtMs, instance, reports: reports.length, ordersRev: orders.rev };
};
