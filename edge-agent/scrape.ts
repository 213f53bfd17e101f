/** Asks the region's engines and exporters of this moment: each by its own door, none waiting for another. */
import { OperationalError } from "#shared/errors.ts";
import { createDeadline } from "./deadline.ts";
import type { Found, Place } from "./discovery.ts";
import { createDoor, type Door } from "./door.ts";
import { NVIDIA_SMI_COLUMNS } from "./gpu/nvidia-smi.ts";
import { createPolls, type PollsBy } from "./polls.ts";
import type { AgentPorts, EngineAnswers, Fetched, GpuAnswer } from "./ports.ts";
import type { RunCommand } from "./run-command.ts";
import { scrapeEngine } from "./scrape-engine.ts";

export type GpuTarget =
  | { readonly kind: "page"; readonly source: string; readonly url: string; readonly door: Door }
  | { readonly kind: "nvidia-smi"; readonly command: string };

export type ScrapeTargets = {
  /** Looked at in each round. */
  readonly engines: () => Found;
  /** null: none are configured. */
  readonly gpus: readonly GpuTarget[] | null;
};

export type ScrapeBy = PollsBy & {
  readonly runCommand: RunCommand;
  /** For one answer. */
  readonly deadlineMs: number;
  /** For one engine altogether. */
  readonly engineDeadlineMs: number;
};

export type Scrape = Pick<AgentPorts, "scrapeEngines" | "scrapeGpus"> & { readonly close: () => void };

export const createScrape = (targets: ScrapeTargets, by: ScrapeBy): Scrape => {
  const doors = new Map<string, Door>();
  const engines = createPolls<EngineAnswers>(by);
  const gpus = createPolls<GpuAnswer>(by);
  const gpuAnswers = new Map<string, GpuAnswer>();

  /** One door for one place. @returns null where its credentials cannot be read; the next round tries again */
  const doorOf = (place: Place): Door | null => {
    const key = JSON.stringify(place);
    const door = doors.get(key) ?? opened(place, by.deadlineMs);
    if (door !== null) doors.set(key, door);
    return door;
  };

  return {
    scrapeEngines: async (known, signal) => {
      const found = targets.engines();
      closeOthers(doors, found.places);
      const shut: string[] = [];
      const polls = found.places.flatMap((place) => {
        const door = doorOf(place);
        if (door === null) shut.push(place.address);
        if (door === null) return [];
        const ask = (stop: AbortSignal): Promise<EngineAnswers> =>
          within(by.engineDeadlineMs, stop, (signal) =>
            scrapeEngine({ ...place, door }, known(place.address), { clock: by.clock, signal }),
          );
        return [{ key: place.address, ask, isAnswer: isHeard }];
      });
      return {
        engines: found.places,
        answers: await engines.round(polls, signal),
        faults: [
          ...found.faults,
          ...shut.map((address) => ({ source: address, field: "engines", code: "unusable-file" })),
        ],
      };
    },
    scrapeGpus: async (signal) => {
      if (targets.gpus === null) return null;
      const polls = targets.gpus.map((target) => ({
        key: target.kind === "page" ? target.source : target.kind,
        ask: (stop: AbortSignal) => scrapeGpu(target, by.runCommand, stop),
        isAnswer: isGpuAnswer,
      }));
      for (const [key, answer] of await gpus.round(polls, signal)) gpuAnswers.set(key, answer);
      return polls.flatMap(({ key }) => gpuAnswers.get(key) ?? []);
    },
    close: () => {
      const exporters = (targets.gpus ?? []).flatMap((target) => (target.kind === "page" ? [target.door] : []));
      for (const door of [...doors.values(), ...exporters]) door.close();
    },
  };
};

/** For all steps of one engine together. */
const within = async <T>(ms: number, stop: AbortSignal, ask: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const over = new AbortController();
  const deadline = createDeadline(ms, stop);
  if (deadline.isOver()) over.abort(OVER);
  deadline.whenOver(() => over.abort(OVER));
  try {
    return await ask(over.signal);
  } finally {
    deadline.release();
  }
};

/** Made once: one of Node's own for each engine and second would be an error with a stack. */
const OVER = new Error("its time is over");

const opened = (place: Place, deadlineMs: number): Door | null => {
  try {
    return createDoor(place, { deadlineMs, host: place.host });
  } catch (error) {
    // A file that is not there yet: the report says so in each round.
    if (error instanceof OperationalError) return null;
    throw error;
  }
};

const closeOthers = (doors: Map<string, Door>, places: readonly Place[]): void => {
  const wanted = new Set(places.map((place) => JSON.stringify(place)));
  for (const [key, door] of doors) {
    if (wanted.has(key)) continue;
    doors.delete(key);
    door.close();
  }
};

const isAnswered = (fetched: Fetched | null): boolean => fetched?.kind === "answered";

const isHeard = ({ metrics, models, health, further }: EngineAnswers): boolean =>
  [metrics, models, health, ...further.values()].some(isAnswered);

const isGpuAnswer = (answer: GpuAnswer): boolean =>
  answer.kind === "page" ? isAnswered(answer.page) : answer.output.kind === "ended";

const PAGE = "text/plain; version=0.0.4, */*;q=0.1";

const scrapeGpu = async (target: GpuTarget, runCommand: RunCommand, signal: AbortSignal): Promise<GpuAnswer> => {
  switch (target.kind) {
    case "page": {
      const page = await target.door.fetch(target.url, { accept: PAGE, isGuarded: false, signal });
      return { kind: "page", source: target.source, page };
    }
    case "nvidia-smi": {
      const query = [`--query-gpu=${NVIDIA_SMI_COLUMNS.join(",")}`, "--format=csv,noheader,nounits"];
      return { kind: "nvidia-smi", source: "nvidia-smi", output: await runCommand(target.command, query, signal) };
    }
  }
};
