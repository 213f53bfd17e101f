/** A folder of key files that is gone when the test ends. */
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeyFiles } from "#gtm/keys/key-files.ts";
import { RegionId } from "#shared/ids.ts";
import { identityKeyText, reportRingsText, ringText } from "#shared/key-file-text.ts";
import type { KeyRing, KeyState, RingKey } from "#shared/key-ring.ts";

export type KeyFolder = Disposable & {
  readonly path: string;
  readonly files: KeyFiles & Readonly<Record<"identity" | "signing" | "reports" | "cookie", string>>;
  /** Whole, as tools that deploy do; for this user only. */
  readonly write: (file: string, text: string) => void;
};

export const keyOf = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);

/** Its octets are its id. */
export const ringKey = (id: number, state: KeyState = "current"): RingKey => ({
  id,
  state,
  madeAtMs: Date.UTC(2026, 10, 30) + id * 1_000,
  key: keyOf(id),
});

/** Of DNS cookies; its octets are its id. */
export const cookieKey = (id: number, state: KeyState = "current"): RingKey => ({
  ...ringKey(id, state),
  key: new Uint8Array(16).fill(id),
});

/** @param wish.reports by region */
export const keyFolder = (
  wish: { readonly signing?: KeyRing; readonly reports?: Readonly<Record<string, KeyRing>> } = {},
): KeyFolder => {
  const path = mkdtempSync(join(tmpdir(), "gtm-keys-"));
  const files = {
    identity: join(path, "identity.key"),
    signing: join(path, "signing.keys"),
    ticket: null,
    reports: join(path, "reports.keys"),
    cookie: join(path, "cookie.keys"),
  };
  const write = (file: string, text: string): void => {
    const beside = `${file}.new`;
    writeFileSync(beside, text);
    chmodSync(beside, 0o600);
    renameSync(beside, file);
  };
  const rings = Object.entries(wish.reports ?? {}).map(([region, ring]) => [RegionId.parse(region), ring] as const);
  write(files.identity, identityKeyText(keyOf(200)));
  write(files.signing, ringText(wish.signing ?? [ringKey(7)], "of a test"));
  write(files.cookie, ringText([cookieKey(5)], "of a test"));
  write(files.reports, reportRingsText(new Map(rings)));
  return { path, files, write, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
};
