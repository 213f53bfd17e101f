/** Every key of the configuration, with what it means and when a change of it takes effect; a test holds the schema to it. */
import type { Effect, SettingRow } from "./setting-row.ts";
import { PROCESS_SETTINGS } from "./settings-of-process.ts";
import { STEERING_SETTINGS } from "./settings-of-steering.ts";
import { WIRE_SETTINGS } from "./settings-of-wires.ts";

export const SETTINGS: readonly SettingRow[] = [...PROCESS_SETTINGS, ...WIRE_SETTINGS, ...STEERING_SETTINGS];

const BY_KEY = new Map(SETTINGS.map((row) => [row[0], row]));

/** @param at as rows have it @returns null: no key, or one that holds others */
export const settingAt = (at: string): { readonly effect: Effect; readonly says: string } | null => {
  const row = BY_KEY.get(at);
  return row === undefined ? null : { effect: row[1], says: row[2] };
};
