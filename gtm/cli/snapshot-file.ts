/** Files of `gtm snapshot`: written for their owner alone, and read with every fault named. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { type Facts, FORMAT, FORMAT_VERSION, factsOf, Snapshot } from "#gtm/wire/admin/snapshot.ts";
import { CliFailure, EXIT } from "./failure.ts";

/** Twice what the API gives. */
const MOST_BYTES = 33_554_432;

/** It tells where clients and conversations are. @throws {CliFailure} where it cannot be written */
export const writeSnapshot = (path: string, snapshot: unknown): void => {
  try {
    writeFileSync(path, `${JSON.stringify(snapshot)}\n`, { mode: 0o600 });
  } catch (error) {
    throw new CliFailure(EXIT.error, `${path}: cannot be written: ${messageOf(error)}`);
  }
};

/** @throws {CliFailure} naming the file, the place in it and what was expected there */
export const readSnapshot = (path: string): { readonly snapshot: Snapshot; readonly facts: Facts } => {
  const raw = jsonIn(path);
  const head = z.looseObject({ format: z.unknown(), v: z.unknown() }).safeParse(raw);
  if (!head.success || head.data.format !== FORMAT) {
    throw new CliFailure(
      EXIT.error,
      `${path}: not a snapshot: expected format "${FORMAT}"; \`gtm snapshot\` writes one`,
    );
  }
  if (head.data.v !== FORMAT_VERSION) {
    const found = JSON.stringify(head.data.v);
    throw new CliFailure(
      EXIT.error,
      `${path}: v: expected ${FORMAT_VERSION}, found ${found}: made by another version of gtm`,
    );
  }
  const parsed = Snapshot.safeParse(raw);
  if (!parsed.success) throw new CliFailure(EXIT.error, `${path}: ${faultsOf(parsed.error, [])}`);
  try {
    return { snapshot: parsed.data, facts: factsOf(parsed.data.facts) };
  } catch (error) {
    const faults = error instanceof z.ZodError ? faultsOf(error, ["facts"]) : `facts: ${messageOf(error)}`;
    throw new CliFailure(EXIT.error, `${path}: ${faults}`);
  }
};

const jsonIn = (path: string): unknown => {
  try {
    const { size } = statSync(path);
    if (size > MOST_BYTES) throw new Error(`expected at most ${MOST_BYTES} bytes, found ${size}`);
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new CliFailure(EXIT.error, `${path}: cannot be read: ${messageOf(error)}`);
  }
};

const MOST_FAULTS = 10;

const faultsOf = ({ issues }: z.ZodError, above: readonly string[]): string =>
  issues
    .slice(0, MOST_FAULTS)
    .map(({ path, message }) => `${[...above, ...path.map(String)].join(".")}: ${message}`)
    .join("; ");

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
