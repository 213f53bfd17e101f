/** One JSON object a line on standard output: level, time, event, fields. Never a prompt, a header, a token or a full client address. */
import { writeSync } from "node:fs";
import { destination, pino } from "pino";

export type LogFields = Readonly<Record<string, string | number | boolean | null>>;

type Write = (event: string, fields?: LogFields) => void;

/** `event` is dotted, past tense or state; fields are flat and carry their units. */
export type Logger = {
  /** Off unless somebody looks for something. */
  readonly debug: Write;
  /** Life cycle. */
  readonly info: Write;
  /** Degraded, heals itself. */
  readonly warn: Write;
  /** A person must act. */
  readonly error: Write;
};

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";
/** Takes whole lines, each with its line feed. */
export type LogDestination = { readonly write: (line: string) => void };

/** A stack trace fits; a prompt does not. */
const LONGEST_TEXT = 4_096;
const SECRET_FIELD = /(?:authorization|cookie|credential|headers?|password|prompt|secret|token|api_?key|body)$/i;
const RESERVED = new Set(["level", "time", "event"]);

/** @param options.destination standard output where absent */
export const createLogger = (options: {
  readonly level: LogLevel;
  readonly destination?: LogDestination;
}): Logger & {
  /** From now on. */
  readonly setLevel: (level: LogLevel) => void;
} => {
  const settings = {
    level: options.level,
    base: null,
    formatters: { level: (level: string) => ({ level }) },
  };
  const log = pino(settings, options.destination ?? standardOutput());
  return {
    debug: (event, fields) => log.debug(lineOf(event, fields)),
    info: (event, fields) => log.info(lineOf(event, fields)),
    warn: (event, fields) => log.warn(lineOf(event, fields)),
    error: (event, fields) => log.error(lineOf(event, fields)),
    setLevel: (level) => {
      log.level = level;
    },
  };
};

/** Lines that could not be written wait, up to so much; what is more is lost, and the process lives. */
const MOST_UNWRITTEN_BYTES = 1_048_576;

const standardOutput = (): LogDestination => {
  // Written before the call returns: pino's default writes later, and what is on its way when a process exits is lost or out of order.
  const output = destination({ dest: 1, sync: true, maxLength: MOST_UNWRITTEN_BYTES });
  let isTold = false;
  output.on("error", (fault: Error) => {
    // A full disk, a reader that is gone: there is nowhere else to say it, and once is enough.
    if (!isTold) tellStandardError(`the log cannot be written, and goes on unwritten: ${fault.message}\n`);
    isTold = true;
  });
  return output;
};

/** Not by process.stderr, which ends the process where nobody reads that either. */
const tellStandardError = (text: string): void => {
  try {
    writeSync(2, text);
  } catch {
    // Nobody is left to hear it.
  }
};

export const silentLogger: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** The last guard, for a caller who forgot: text under a secret's name is withheld, long text is cut, `event` stays the event. */
const lineOf = (event: string, fields: LogFields = {}): Record<string, unknown> => {
  const line: Record<string, unknown> = { event };
  for (const [name, value] of Object.entries(fields)) {
    line[RESERVED.has(name) ? `${name}_` : name] = typeof value === "string" ? shown(name, value) : value;
  }
  return line;
};

const shown = (name: string, text: string): string => {
  if (SECRET_FIELD.test(name)) return "[withheld]";
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)}…`;
};
