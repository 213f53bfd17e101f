/** Two GTMs as processes with copies of the same key files and nothing else in common: no agents, no store or one that is away. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { labelKeysOf, readKeys } from "#gtm/keys/key-files.ts";
import { PoolName, RegionId } from "#shared/ids.ts";
import { createLabels, type Labels } from "#shared/pin-token.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";
import { askUdp } from "./dns-client.ts";
import { HOUSE_REGIONS, houseYaml } from "./house.ts";
import { type ServedGtm, serveGtm } from "./served-gtm.ts";

const FILES = ["identity.key", "signing.keys", "ticket.keys", "reports.keys", "cookie.keys"];

export const ADDRESS_OF: ReadonlyMap<string, string> = new Map(HOUSE_REGIONS.map(({ id, address }) => [id, address]));

export type Dug = {
  readonly addresses: readonly string[];
  readonly ttls: readonly number[];
  /** Such as "192.0.2.0/24/24". */
  readonly scope: string;
};

export type Twin = {
  readonly gtm: ServedGtm;
  /** Where its copies of the key files are. */
  readonly folder: string;
  /** Takes the key files as the operator has them now. */
  readonly copyKeys: () => void;
  /** @param name without the zone's */
  readonly dig: (name: string, subnet?: string) => Promise<Dug>;
  /** The same question without a process for it. */
  readonly addressesOf: (name: string) => Promise<readonly string[]>;
  readonly turn: (headers: Readonly<Record<string, string>>) => Promise<{
    readonly region: string;
    readonly verdict: string;
    readonly pin: string;
  }>;
  /** With the keys that its files hold now. */
  readonly labels: () => Labels;
  /** A token of this conversation that says this region. */
  readonly minted: (conversation: string, region: string) => string;
};

export type Twins = AsyncDisposable & {
  readonly a: Twin;
  readonly b: Twin;
  /** `gtm keys …` on the operator's files. */
  readonly keys: (...words: readonly string[]) => Promise<void>;
};

export const startTwins = async (storeUrl: string): Promise<Twins> => {
  const top = mkdtempSync(join(tmpdir(), "gtm-twins-"));
  const master = join(top, "master");
  const keys = async (...words: readonly string[]): Promise<void> => {
    const { exitCode, err } = await runCli(["keys", ...words, "--dir", master]);
    assert.equal(exitCode, 0, err);
  };
  await keys("init");
  const [a, b] = await Promise.all([startTwin("a", top, storeUrl), startTwin("b", top, storeUrl)]);
  return {
    ...{ a, b, keys },
    [Symbol.asyncDispose]: async () => {
      for (const { gtm } of [a, b]) await gtm[Symbol.asyncDispose]();
      rmSync(top, { recursive: true });
    },
  };
};

const startTwin = async (name: string, top: string, storeUrl: string): Promise<Twin> => {
  const folder = join(top, name);
  const copyKeys = (): void => {
    for (const file of FILES) {
      copyFileSync(join(top, "master", file), join(folder, `${file}.new`));
      renameSync(join(folder, `${file}.new`), join(folder, file));
    }
  };
  mkdirSync(folder);
  copyKeys();
  const [identity_file, signing_file, ticket_file, reports_file, cookie_file] = FILES.map((file) => join(folder, file));
  const settings = JSON.parse(houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } }));
  const keys = { identity_file, signing_file, ticket_file, reports_file, cookie_file };
  const gtm = await serveGtm({ ...settings, instance: name, store: { url: storeUrl }, keys });
  const labels = (): Labels => labelsIn(folder);
  return {
    ...{ gtm, folder, copyKeys, labels },
    dig: (asked, subnet = "192.0.2.0/24") => dig(gtm, asked, subnet),
    addressesOf: async (asked) => (await askUdp(gtm.dns, { name: `${asked}.llm.test` })).data,
    turn: async (headers) => {
      const { status, header } = await gtm.post(headers);
      assert.equal(status, 307);
      return { region: header("x-gtm-region"), verdict: header("x-gtm-verdict"), pin: header("x-gtm-pin") };
    },
    minted: (conversation, region) =>
      labels().mint({
        ...{ pool: PoolName.parse("chat"), region: RegionId.parse(region), issuedAtMs: Date.now() },
        conversation: labels().conversationIdOf("default", conversation),
      }),
  };
};

const dig = async ({ dns }: ServedGtm, name: string, subnet: string): Promise<Dug> => {
  const at = [`@${dns.address}`, "-p", String(dns.port), "+tries=1", "+time=5", `+subnet=${subnet}`];
  const { stdout } = await promisify(execFile)("dig", [...at, `${name}.llm.test`, "A"]);
  assert.match(stdout, /status: NOERROR/);
  const answers = [...stdout.matchAll(/^\S+\s+(\d+)\s+IN\s+A\s+(\S+)$/gm)];
  return {
    addresses: answers.map(([, , data = ""]) => data),
    ttls: answers.map(([, ttl]) => Number(ttl)),
    scope: /CLIENT-SUBNET: (\S+)/.exec(stdout)?.[1] ?? "",
  };
};

const labelsIn = (folder: string): Labels => {
  const [identity = null, signing = null] = FILES.map((file) => join(folder, file));
  const keys = labelKeysOf(readKeys({ identity, signing, ticket: null, reports: null, cookie: null }));
  assert.ok(keys !== null);
  return createLabels(keys);
};
