/** Trace files as lines: plain or compressed by gzip, told by their first bytes. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { readClaudeCode } from "#gtm/simulation/traces/claude-code.ts";
import { readMooncake } from "#gtm/simulation/traces/mooncake.ts";
import { readRagpulse } from "#gtm/simulation/traces/ragpulse.ts";
import type { RecordedTrace } from "#gtm/simulation/traces/recorded-trace.ts";
import type { TraceFile } from "#gtm/simulation/traces/trace-file.ts";
import { OperationalError } from "#shared/errors.ts";

/** More than any published trace; compressed ones may be small and full. */
const MOST_BYTES = 2_000_000_000;
const LINE_FEED = 10;

/** @throws {OperationalError} GTM_TRACE_INVALID */
export const traceFileAt = (path: string): TraceFile => ({ name: path, lines: linesOf(unpacked(path, bytesAt(path))) });

const bytesAt = (path: string): Buffer => {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw unreadable(path, cause);
  }
};

const unpacked = (path: string, bytes: Buffer): Buffer => {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: MOST_BYTES });
  } catch (cause) {
    throw unreadable(path, cause);
  }
};

const unreadable = (path: string, cause: unknown): OperationalError =>
  new OperationalError("GTM_TRACE_INVALID", `${path}: ${cause instanceof Error ? cause.message : String(cause)}`, {
    cause,
  });

/** One line at a time: a whole trace may be longer than a string can be. */
function* linesOf(bytes: Buffer): Generator<string> {
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(LINE_FEED, from);
    yield bytes.toString("utf8", from, end === -1 ? bytes.length : end);
    from = end === -1 ? bytes.length : end + 1;
  }
}

/** RAGPulse comes in two files: the sizes of its contents lie beside the questions. */
const CONTENTS = "block_tokens.csv";

/**
 * @param traffic a reader's name, a colon, a path
 * @throws {OperationalError} GTM_TRACE_INVALID, also where the file cannot be read
 */
export const recordedTraceOf = (traffic: string): RecordedTrace => {
  const at = traffic.indexOf(":");
  const path = traffic.slice(at + 1);
  switch (traffic.slice(0, at)) {
    case "mooncake":
      return readMooncake(traceFileAt(path));
    case "claude":
      return readClaudeCode(traceFileAt(path));
    case "ragpulse":
      return readRagpulse(traceFileAt(path), contentsBeside(path), 1);
    default:
      throw new RangeError(`no reader is called ${traffic.slice(0, at)}`);
  }
};

const contentsBeside = (path: string): TraceFile => {
  const beside = join(dirname(path), CONTENTS);
  return traceFileAt(path.endsWith(".gz") ? `${beside}.gz` : beside);
};
