/** A log that tests read: every event with its level and fields, in order. */
import type { LogFields, Logger } from "#shared/logger.ts";

export type Logged = { readonly level: keyof Logger; readonly event: string; readonly fields: LogFields };

export const recordingLog = (): Logger & { readonly lines: readonly Logged[] } => {
  const lines: Logged[] = [];
  const at =
    (level: keyof Logger) =>
    (event: string, fields: LogFields = {}): void => {
      lines.push({ level, event, fields });
    };
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
};
