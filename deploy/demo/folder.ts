/** The files that the demo's programs are given: keys, tokens, a certificate. New for every run, and gone with it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashOfToken } from "#gtm/wire/admin/token.ts";
import { tokenLine } from "#gtm/wire/admin/tokens-file.ts";
import { systemClock } from "#shared/clock.ts";
import { makeCertificates } from "./certificates.ts";
import { type DemoKeys, writeKeys } from "./keys.ts";
import { ENGINE_KEY, SECURE_SITE, SITES } from "./places.ts";
import { DEMO_ACTOR, SECURE_NAMES } from "./settings.ts";

export type DemoFolder = {
  readonly keys: DemoKeys;
  readonly tokensFile: string;
  readonly engineKeyFile: string;
  readonly tls: { readonly cert_file: string; readonly key_file: string };
  /** What clients of the TLS pool must trust. */
  readonly authorityFile: string;
  readonly remove: () => void;
};

/** @param token of the admin API */
export const makeFolder = async (token: string): Promise<DemoFolder> => {
  const folder = mkdtempSync(join(tmpdir(), "llm-gtm-demo-"));
  const nowEpochMs = systemClock.epochMs();
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const { authority, certificate, key } = await makeCertificates(SECURE_NAMES, [SECURE_SITE.address], nowEpochMs);
  return {
    keys: writeKeys(
      folder,
      SITES.map(({ region }) => region),
      nowEpochMs,
    ),
    tokensFile: write("tokens.yaml", `${tokenLine({ name: DEMO_ACTOR, role: "admin", sha256: hashOfToken(token) })}\n`),
    engineKeyFile: write("engine.key", `${ENGINE_KEY}\n`),
    tls: { cert_file: write("secure.pem", certificate), key_file: write("secure.key", key) },
    authorityFile: write("authority.pem", authority),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
