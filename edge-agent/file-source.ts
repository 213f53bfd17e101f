/** Engines in a watched file: they come and go with it. A version that cannot be used changes nothing, and says why. */
import { readFileSync } from "node:fs";
import type { z } from "zod";
import { parseConfig } from "#shared/config.ts";
import type { Place, Source } from "./discovery.ts";
import { addressOf, EngineFile, type NamedEngine } from "./engine-config.ts";
import { watchedFile } from "./watched-file.ts";

export type FileEvents = {
  /** Once for each version that is used; the number of engines in it. */
  readonly onChange: (path: string, engines: number) => void;
  /** Once for each version that is not; `why` names lines. */
  readonly onUnusable: (path: string, why: string) => void;
};

/**
 * Looked at each time the source is, which costs one `stat`; a file that is written in place is read when its size or time changed.
 *
 * @param env for `${NAME}` in it
 */
export const fileSource = (
  path: string,
  env: Readonly<Record<string, string | undefined>>,
  { onChange, onUnusable }: FileEvents,
): Source => {
  const read = (): readonly Place[] => placesIn(path, env);
  let known: readonly Place[] = [];
  let told: string | null = null;
  let file: (() => { readonly content: readonly Place[]; readonly fault: string | null }) | null = null;

  const look = (): { readonly content: readonly Place[]; readonly fault: string | null } => {
    try {
      // The first version may be missing, or half there, too.
      file ??= watchedFile(path, read);
      return file();
    } catch (error) {
      return { content: known, fault: error instanceof Error ? error.message : String(error) };
    }
  };
  return () => {
    const { content, fault } = look();
    if (content !== known) onChange(path, content.length);
    known = content;
    if (fault !== null && fault !== told) onUnusable(path, fault);
    told = fault;
    const faults = fault === null ? [] : [{ source: path, field: "engines", code: "unusable-file" }];
    return { places: known, faults };
  };
};

/** @throws {OperationalError} whose message names the file, the line and what was expected */
const placesIn = (path: string, env: Readonly<Record<string, string | undefined>>): readonly Place[] =>
  parseConfig(EngineFile, readFileSync(path, "utf8"), { source: path, env, code: "AGENT_CONFIG_INVALID" }).engines.map(
    placeOf,
  );

export const placeOf = (engine: z.infer<typeof NamedEngine>): Place => ({
  address: addressOf(engine.url) ?? engine.url,
  url: engine.url.replace(/\/+$/, ""),
  host: null,
  wish: engine.engine,
  model: engine.model,
  aliases: engine.aliases,
  caFile: engine.ca_file,
  apiKeyFile: engine.api_key_file,
  bearerTokenFile: engine.bearer_token_file,
  gpus: { uuids: engine.gpu_uuids, pods: engine.gpu_pods },
});
