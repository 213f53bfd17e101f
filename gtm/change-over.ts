/** From one configuration to the next, in one step: whoever decides has all of the one or all of the other. */
import type { Ports } from "#gtm/steering/ports.ts";
import type { GtmConfig } from "./config.ts";
import type { Generation } from "./generation.ts";
import { readKeys } from "./keys/key-files.ts";
import type { StandingSettings } from "./standing-settings.ts";

type Wire = { readonly prepare: (config: GtmConfig, ports: Ports) => () => void };

export type ChangeOverParts = {
  readonly settings: StandingSettings;
  readonly first: Generation;
  readonly begin: () => Generation;
  /** Each with how long it waits for a conversation, ms. */
  readonly wires: readonly (readonly [wire: Wire, withinMs: number])[];
  /** The settings are others now. */
  readonly settle: () => void;
  readonly onLogLevel: (level: GtmConfig["logLevel"]) => void;
};

/** @returns takes a configuration @throws {OperationalError} from there: it cannot be used, and nothing has changed */
export const createChangeOver = (parts: ChangeOverParts): ((next: GtmConfig) => void) => {
  let generation = parts.first;
  return (next) => {
    // What may fail comes first.
    readKeys(next.keys);
    const begun = parts.begin();
    const turns = parts.wires.map(([wire, withinMs]) => wire.prepare(next, begun.portsWithin(withinMs)));
    // In one turn of the event loop, so that nothing is decided by half of it.
    generation.end();
    generation = begun;
    parts.settings.replace(next);
    for (const turn of turns) turn();
    parts.settle();
    parts.onLogLevel(next.logLevel);
  };
};
