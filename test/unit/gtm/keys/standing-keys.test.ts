/** Keys that change while the process runs. */
import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { describe, it, mock } from "node:test";
import { createStandingKeys, LOOK_EVERY_MS } from "#gtm/keys/standing-keys.ts";
import { PoolName } from "#shared/ids.ts";
import { identityKeyText, reportRingsText, ringText } from "#shared/key-file-text.ts";
import type { KeyRing } from "#shared/key-ring.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createLabels } from "#shared/pin-token.ts";
import { regionId } from "#test/support/builders.ts";
import { cookieKey, type KeyFolder, keyFolder, keyOf, ringKey } from "#test/support/key-folder.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { until } from "#test/support/until.ts";

const EU = regionId("eu");
const US = regionId("us");
const NONE = { identity: null, signing: null, ticket: null, reports: null, cookie: null };

const setUp = (files: KeyFolder["files"] | typeof NONE) => {
  const log = recordingLog();
  const metrics = createMetrics();
  const keys = createStandingKeys({ files, regions: [EU, US], log, metrics });
  const reloads = (outcome: string): Promise<number> => metricValue(metrics, "gtm_key_reloads_total", { outcome });
  const told = (event: string): readonly unknown[] => log.lines.filter((line) => line.event === event);
  return { keys, log, reloads, told };
};
const labelOf = (conversation: string) => ({
  pool: PoolName.parse("chat"),
  region: EU,
  conversation: createLabels({ identityKey: keyOf(200), signingKeys: [ringKey(7)] }).conversationIdOf(
    "t",
    conversation,
  ),
  issuedAtMs: Date.UTC(2026, 10, 30),
});
const signing = (ring: KeyRing): string => ringText(ring, "of a test");

const idOf = (key: Uint8Array): number => key[0] ?? -1;

describe("secrets of DNS cookies", () => {
  it("follow their file, the current one first; the array is another one only when they changed", () => {
    using folder = keyFolder();
    const { keys } = setUp(folder.files);
    const first = keys.cookieKeys();
    assert.deepEqual(first.map(idOf), [5]);
    keys.reload();
    assert.equal(keys.cookieKeys(), first);
    folder.write(folder.files.cookie, ringText([cookieKey(5, "old"), cookieKey(6)], "of a test"));
    keys.reload();
    assert.deepEqual(keys.cookieKeys().map(idOf), [6, 5]);
  });
  it("are as they were where the file has one of another length", async () => {
    using folder = keyFolder();
    const { keys, reloads, log } = setUp(folder.files);
    folder.write(folder.files.cookie, ringText([ringKey(6)], "of a test"));
    keys.reload();
    assert.deepEqual(keys.cookieKeys().map(idOf), [5]);
    assert.equal(await reloads("refused"), 1);
    assert.match(JSON.stringify(log.lines), /expected keys of 16 octets, found one of 32 with the id 6/);
  });
  it("are made at start without a file, each start others, and it says so", () => {
    const [one, other] = [setUp(NONE), setUp(NONE)];
    assert.equal(one.keys.cookieKeys()[0]?.length, 16);
    assert.notDeepEqual(one.keys.cookieKeys(), other.keys.cookieKeys());
    assert.equal(one.told("cookies.ephemeral").length, 1);
  });
});

describe("labels while signing keys change", () => {
  it("are read after each step by whoever held them before it", () => {
    using folder = keyFolder();
    const { keys } = setUp(folder.files);
    const { labels } = keys;
    const token = labels.mint(labelOf("c"));
    const take = (ring: KeyRing): void => {
      folder.write(folder.files.signing, signing(ring));
      keys.reload();
    };
    take([ringKey(8, "next"), ringKey(7)]);
    assert.equal(labels.read(token).kind, "ours");
    assert.equal(labels.mint(labelOf("c")), token);
    take([ringKey(8), ringKey(7, "old")]);
    const fresh = labels.mint(labelOf("c"));
    assert.notEqual(fresh, token);
    assert.deepEqual([labels.read(token).kind, labels.read(fresh).kind], ["ours", "ours"]);
    take([ringKey(8)]);
    // The name of the conversation never ends; only where it lives is not believed any more.
    assert.deepEqual(labels.read(token), { kind: "stranger", conversation: labelOf("c").conversation });
    assert.equal(labels.read(fresh).kind, "ours");
  });
});

describe("a reload", () => {
  it("that finds nothing new is counted and not told of", async () => {
    using folder = keyFolder();
    const { keys, reloads, told } = setUp(folder.files);
    folder.write(folder.files.signing, `# only a comment is new\n${signing([ringKey(7)])}`);
    keys.reload();
    assert.deepEqual([await reloads("unchanged"), told("keys.reloaded").length], [1, 0]);
  });
  it("of a faulty file keeps the keys, is an error, and is over once the file is whole", async () => {
    using folder = keyFolder();
    const { keys, reloads, log } = setUp(folder.files);
    const token = keys.labels.mint(labelOf("c"));
    folder.write(folder.files.signing, "8 current");
    keys.reload();
    assert.equal(keys.labels.read(token).kind, "ours");
    assert.equal(await reloads("refused"), 1);
    const told = log.lines.at(-1);
    assert.deepEqual([told?.level, told?.event, told?.fields["code"]], ["error", "keys.refused", "GTM_CONFIG_INVALID"]);
    assert.match(String(told?.fields["message"]), /signing\.keys:1: expected id, state, time and key/);
    folder.write(folder.files.signing, signing([ringKey(8), ringKey(7, "old")]));
    keys.reload();
    assert.equal(await reloads("taken"), 1);
    assert.deepEqual(log.lines.at(-1), { level: "info", event: "keys.reloaded", fields: { signs: 8, accepted: 2 } });
  });
  it("of another identity key is refused: it would forget every conversation while requests run", async () => {
    using folder = keyFolder();
    const { keys, reloads } = setUp(folder.files);
    const before = keys.labels.conversationIdOf("t", "c");
    folder.write(folder.files.identity, identityKeyText(keyOf(201)));
    keys.reload();
    assert.equal(keys.labels.conversationIdOf("t", "c"), before);
    assert.equal(await reloads("refused"), 1);
  });
  it("gives regions their new report keys, two during a change", () => {
    using folder = keyFolder({ reports: { eu: [ringKey(1)] } });
    const { keys, told } = setUp(folder.files);
    assert.deepEqual([keys.reportKeys.get(EU).length, keys.reportKeys.get(US).length], [1, 0]);
    assert.deepEqual(told("reports.unsigned"), [
      { level: "warn", event: "reports.unsigned", fields: { regions: "us" } },
    ]);
    const rings = new Map([
      [EU, [ringKey(2, "next"), ringKey(1)]],
      [US, [ringKey(3)]],
    ]);
    folder.write(folder.files.reports, reportRingsText(rings));
    keys.reload();
    assert.deepEqual(keys.reportKeys.get(EU), [Buffer.from(keyOf(2)), Buffer.from(keyOf(1))]);
    assert.equal(keys.reportKeys.get(US).length, 1);
    assert.equal(told("reports.unsigned").length, 1);
  });
});

describe("at start", () => {
  it("a faulty file is refused", () => {
    using folder = keyFolder();
    folder.write(folder.files.signing, "x");
    assert.throws(() => setUp(folder.files), { code: "GTM_CONFIG_INVALID" });
  });
  it("files that every user can read are told of, and regions that the configuration does not have", () => {
    using folder = keyFolder({ reports: { atlantis: [ringKey(1)] } });
    chmodSync(folder.files.signing, 0o604);
    const { told } = setUp(folder.files);
    assert.deepEqual(told("keys.readable-by-others"), [
      { level: "warn", event: "keys.readable-by-others", fields: { file: folder.files.signing } },
    ]);
    assert.deepEqual(told("keys.region-unknown"), [
      { level: "warn", event: "keys.region-unknown", fields: { region: "atlantis" } },
    ]);
  });
  it("without files keys are made, with a warning, and reloading changes nothing", async () => {
    const { keys, told, reloads } = setUp(NONE);
    const token = keys.labels.mint(labelOf("c"));
    await keys.start();
    keys.reload();
    await keys.stop();
    assert.equal(keys.labels.read(token).kind, "ours");
    assert.equal(told("labels.ephemeral").length, 1);
    assert.equal(await reloads("unchanged"), 1);
  });
});

describe("a file that changes without a signal", () => {
  it("is read within five seconds, and not before it changes", async () => {
    using folder = keyFolder();
    mock.timers.enable({ apis: ["setInterval"] });
    try {
      const { keys, reloads, told } = setUp(folder.files);
      await keys.start();
      const atStart = await reloads("unchanged");
      mock.timers.tick(LOOK_EVERY_MS);
      await keys.stop();
      assert.equal(await reloads("unchanged"), atStart);
      await keys.start();
      folder.write(folder.files.signing, signing([ringKey(8), ringKey(7, "old")]));
      assert.equal(told("keys.reloaded").length, 0);
      mock.timers.tick(LOOK_EVERY_MS);
      await until(() => told("keys.reloaded").length === 1);
      await keys.stop();
    } finally {
      mock.timers.reset();
    }
  });
});
