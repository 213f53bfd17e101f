/** Keeps a world file: read before the store is asked, written every few seconds while it is there, and at the end. */
import type { Clock } from "#shared/clock.ts";
import { withinDeadline } from "#shared/deadline.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Degradations } from "./degradations.ts";
import { readWhole, replaceWhole, sweepBeside } from "./world-file-disk.ts";
import { type WorldFile, worldFileOf, worldFileText } from "./world-file-format.ts";

export type SavedWorld = Pick<WorldFile, "reports" | "orders" | "cells">;

export type WorldDisk = {
  readonly readWhole: typeof readWhole;
  readonly replaceWhole: typeof replaceWhole;
  readonly sweepBeside: typeof sweepBeside;
};

export type WorldFileOptions = {
  /** null: none is kept. */
  readonly path: string | null;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly degradations: Pick<Degradations, "set">;
  readonly instance: string;
  /** What was saved while it is not is no newer than what stands in the file. */
  readonly isStoreUp: () => boolean;
  readonly take: () => SavedWorld;
  /** @param savedForMs how long ago it was saved, as far as the clocks can tell; 0 or more */
  readonly give: (saved: SavedWorld, savedForMs: number) => void;
  /** What a test puts in the disk's place. */
  readonly disk?: WorldDisk;
};

const SAVE_EVERY_MS = 5_000;
/** A disk that takes longer does not work. */
const WRITE_WITHIN_MS = 10_000;
/** Of what a program has for its end. */
const LAST_WRITE_WITHIN_MS = 2_000;
/** Nobody is still writing what is older. */
const LEFT_BEHIND_MS = 60_000;
/**
 * Older reports are not believed. What a restart needs of them is which models are placed where, which changes with
 * deployments, by the day; that a region is gone its probe finds, and queues are played forward to nothing anyway. Orders
 * have an expiry of their own, and are used whatever their age. A clock that was set by hours costs nothing.
 */
const USABLE_MS = 86_400_000;

export const createWorldFile = (options: WorldFileOptions): Part => {
  const { path, clock, log, degradations, disk = { readWhole, replaceWhole, sweepBeside } } = options;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> | null = null;
  /** Longer than anybody waits for it, where the disk hangs. */
  let isDiskBusy = false;
  const reads = options.metrics.counter({
    name: "gtm_world_file_reads_total",
    help: "World files at start: used, absent, ahead (saved in the future: its age is not known), or why not used.",
    labels: ["outcome"],
  });
  const writes = options.metrics.counter({
    name: "gtm_world_file_writes_total",
    help: "Times that the world file was written, by outcome; after a failure the one before stands.",
    labels: ["outcome"],
  });
  const size = options.metrics.gauge({ name: "gtm_world_file_bytes", help: "Size of the world file as last written." });

  const doubt = (outcome: string, detail: string): void => {
    log.warn("world-file.refused", { outcome, detail });
    degradations.set("world", `the saved world is not used, ${outcome}: ${detail}`);
  };
  const use = ({ savedAtMs, instance, reports, orders, cells }: WorldFile): string => {
    const saved = { reports, orders, cells };
    const savedForMs = clock.epochMs() - savedAtMs;
    if (Math.abs(savedForMs) > USABLE_MS) {
      const outcome = savedForMs > 0 ? "too-old" : "future";
      options.give({ ...saved, reports: [], cells: [] }, 0);
      doubt(
        outcome,
        `saved ${Math.round(Math.abs(savedForMs) / 1_000)} s ${savedForMs > 0 ? "ago" : "ahead of the clock"}`,
      );
      return outcome;
    }
    const isAhead = savedForMs < 0;
    if (isAhead) log.warn("world-file.ahead", { aheadMs: Math.round(-savedForMs) });
    options.give(saved, Math.max(0, savedForMs));
    log.info("world-file.used", { savedForMs: Math.round(savedForMs), instance, reports: saved.reports.length });
    return isAhead ? "ahead" : "used";
  };
  const load = async (from: string): Promise<string> => {
    const found = await disk.readWhole(from);
    if (found.kind === "absent") {
      log.info("world-file.absent", { path: from });
      return "absent";
    }
    const reading = found.kind === "read" ? worldFileOf(found.text) : { ...found, reason: "unreadable" };
    if (reading.kind === "sound") return use(reading.file);
    doubt(reading.reason, reading.detail);
    return reading.reason;
  };
  const sweep = async (of: string): Promise<void> => {
    try {
      const swept = await disk.sweepBeside(of, clock.epochMs() - LEFT_BEHIND_MS);
      if (swept > 0) log.info("world-file.swept", { swept });
    } catch (fault) {
      // Where nothing can be read nothing can be written either: that is told of then.
      log.warn("world-file.sweep-failed", { why: String(fault) });
    }
  };
  const write = async (to: string): Promise<void> => {
    const savedAtMs = Math.floor(clock.epochMs());
    const text = worldFileText({ v: 1, savedAtMs, instance: options.instance, ...options.take() });
    isDiskBusy = true;
    const replacing = disk.replaceWhole(to, text).finally(() => {
      isDiskBusy = false;
    });
    const done = await withinDeadline(replacing, WRITE_WITHIN_MS);
    writes.inc({ outcome: done.kind === "done" ? "written" : done.kind });
    if (done.kind === "done") {
      size.set(Buffer.byteLength(text));
      degradations.set("world", null);
      return;
    }
    const why = done.kind === "late" ? `no answer of the disk within ${WRITE_WITHIN_MS} ms` : String(done.cause);
    log.warn("world-file.write-failed", { why });
    degradations.set("world", `the world file is not written, the one before stands: ${why}`);
  };
  const save = (): Promise<void> => {
    if (path === null || !options.isStoreUp()) return Promise.resolve();
    if (writing === null && isDiskBusy) return Promise.resolve();
    writing ??= write(path).finally(() => {
      writing = null;
    });
    return writing;
  };

  return {
    name: "world-file",
    start: async () => {
      if (path === null) return;
      reads.inc({ outcome: await load(path) });
      await sweep(path);
      timer = setInterval(() => void save(), SAVE_EVERY_MS);
      timer.unref();
    },
    stop: async () => {
      if (timer !== null) clearInterval(timer);
      await writing;
      await withinDeadline(save(), LAST_WRITE_WITHIN_MS);
    },
  };
};
