import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { type GtmConfig, loadGtmConfig } from "#gtm/config.ts";
import { createReloader } from "#gtm/reload/reloader.ts";
import { OperationalError } from "#shared/errors.ts";
import { createMetrics } from "#shared/metrics.ts";
import { houseYaml } from "#test/support/house.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { recordingLog } from "#test/support/recording-log.ts";

const folder = mkdtempSync(join(tmpdir(), "gtm-reloader-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, "gtm.yaml");
const ENV = { SECRET: "correct horse", NAME: "gtm-7" };

const yaml = (change: object = {}): string =>
  JSON.stringify({ ...JSON.parse(houseYaml(() => "http://127.0.3.9:1")), ...change });

const setUp = async (apply: (config: GtmConfig) => void = () => {}) => {
  writeFileSync(path, yaml());
  const clock = createManualClock();
  const log = recordingLog();
  const degraded: (string | null)[] = [];
  const taken: GtmConfig[] = [];
  const reloader = createReloader({
    file: { path, env: ENV, isWatched: false },
    config: loadGtmConfig(path, ENV),
    apply: (config) => {
      apply(config);
      taken.push(config);
    },
    ...{ clock, log, metrics: createMetrics() },
    degradations: { set: (_what, reason) => degraded.push(reason) },
  });
  await reloader.start();
  return { reloader, clock, log, degraded, taken };
};

describe("a file that is read again", () => {
  it("is taken where it differs, and counts as unchanged where it says the same in other words", async () => {
    const { reloader, taken } = await setUp();
    writeFileSync(path, `# a comment\n${yaml()}`);
    assert.equal(reloader.reload("signal").kind, "unchanged");
    assert.equal(taken.length, 0);
    writeFileSync(path, yaml({ policy: { margin: "80ms" } }));
    assert.equal(reloader.reload("api").kind, "taken");
    assert.equal(taken[0]?.policy.marginMs, 80);
    assert.equal(reloader.state().version, 2);
    await reloader.stop();
  });

  it("is refused from the first fault on, until it is sound again; what stood stands", async () => {
    const { reloader, clock, degraded, taken } = await setUp();
    writeFileSync(path, "version: 2\n");
    assert.equal(reloader.reload("signal").kind, "refused");
    const since = reloader.state().refused?.sinceMs;
    clock.advance(60_000);
    rmSync(path);
    assert.equal(reloader.reload("file").kind, "refused");
    assert.equal(reloader.state().refused?.sinceMs, since, "since the first");
    assert.match(String(degraded.at(-1)), /an older one stands/);
    assert.equal(taken.length, 0);
    writeFileSync(path, yaml());
    assert.equal(reloader.reload("file").kind, "unchanged");
    assert.equal(reloader.state().refused, null);
    assert.equal(degraded.at(-1), null);
  });

  it("is refused where it cannot be applied, as when a key file is missing", async () => {
    const { reloader } = await setUp(() => {
      throw new OperationalError("GTM_CONFIG_UNREADABLE", "/keys/ticket.keys: no such file");
    });
    writeFileSync(path, yaml({ policy: { margin: "80ms" } }));
    const reload = reloader.reload("api");
    assert.equal(reload.kind, "refused");
    assert.equal(reloader.state().version, 1);
    assert.deepEqual(reload.kind === "refused" ? reload.faults.map(({ message }) => message) : [], [
      "/keys/ticket.keys: no such file",
    ]);
  });

  it("waits for a restart with what a process cannot change, key by key, and says so", async () => {
    const { reloader, taken, log } = await setUp();
    writeFileSync(path, yaml({ instance: "other", policy: { margin: "80ms" } }));
    assert.equal(reloader.reload("file").kind, "taken");
    assert.equal(taken[0]?.instance, JSON.parse(yaml()).instance);
    assert.deepEqual(
      reloader.state().pending.map(({ at, to }) => [at, to]),
      [["instance", "other"]],
    );
    assert.ok(log.lines.some(({ event }) => event === "config.restart-needed"));
  });

  it("changes nothing when it is only looked at", async () => {
    const { reloader, taken } = await setUp();
    writeFileSync(path, yaml({ policy: { margin: "80ms" } }));
    const preview = reloader.preview();
    assert.equal(preview.kind, "taken");
    assert.equal(taken.length, 0);
    assert.equal(reloader.state().version, 1);
  });
});

describe("a text that somebody sends", () => {
  it("gives away nothing of the environment, in what would change as in what is wrong", async () => {
    const { reloader } = await setUp();
    const variable = (name: string): string => `\${${name}}`;
    const pools = [{ ...JSON.parse(yaml()).pools[0], models: [variable("SECRET")] }];
    const faulty = reloader.check(yaml({ pools }));
    assert.equal(faulty.kind, "faulty");
    assert.match(JSON.stringify(faulty), /no model is called \$\{SECRET\}/);
    const sound = reloader.check(yaml({ instance: variable("NAME") }));
    assert.equal(sound.kind, "sound");
    assert.deepEqual(sound.kind === "sound" ? sound.plan.changes.map(({ at, to }) => [at, to]) : [], [
      ["instance", variable("NAME")],
    ]);
    for (const told of [faulty, sound]) assert.doesNotMatch(JSON.stringify(told), /correct horse|gtm-7/);
  });
});
