/** Two GTMs on one real Redis: one takes another configuration, and both say so until the other has it, too. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, describe, it } from "node:test";
import { houseYaml } from "#test/support/house.ts";
import { keyFolder } from "#test/support/key-folder.ts";
import { startRedis } from "#test/support/redis.ts";
import { type RunningProgram, startProgram } from "#test/support/running-program.ts";
import { until } from "#test/support/until.ts";

const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const redis = stack.use(await startRedis());
const keys = stack.use(keyFolder());

const settingsOf = (instance: string, margin: string) => ({
  ...JSON.parse(houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } })),
  instance,
  store: { url: redis.url, deadline: "5s" },
  keys: { identity_file: keys.files.identity, signing_file: keys.files.signing },
  policy: { margin },
});
const start = async (instance: string) =>
  stack.use(await startProgram("gtm/main.ts", "serve", settingsOf(instance, "50ms")));

/** What it says of the other. */
const differs = async (gtm: RunningProgram): Promise<readonly string[] | null> => {
  const { text } = await gtm.get("admin", "/api/v1/instances");
  const [other] = (JSON.parse(text) as { others: { configDiffers: string[]; config: object | null }[] }).others;
  return other === undefined || other.config === null ? null : other.configDiffers;
};
const says = async (gtm: RunningProgram, what: readonly string[]) =>
  until(async () => JSON.stringify(await differs(gtm)) === JSON.stringify(what), `it says ${what.join() || "nothing"}`);
const reasons = async (gtm: RunningProgram): Promise<string> =>
  (JSON.parse((await gtm.get("admin", "/api/v1/status")).text) as { reasons: string[] }).reasons.join("; ");

describe("two GTMs on one store", () => {
  it("differ in the policy while only one has taken it, say so to each other, and are alike once both have", async () => {
    const [one, two] = await Promise.all([start("gtm-1"), start("gtm-2")]);
    await says(one, []);
    await says(two, []);
    writeFileSync(one.config, JSON.stringify(settingsOf("gtm-1", "80ms")));
    await says(two, ["policy"]);
    await says(one, ["policy"]);
    await until(async () => (await reasons(two)).includes("gtm-1 is configured otherwise: policy"));
    writeFileSync(two.config, JSON.stringify(settingsOf("gtm-2", "80ms")));
    process.kill(two.pid, "SIGHUP");
    await says(one, []);
    await says(two, []);
    await until(async () => !(await reasons(two)).includes("configured otherwise"));
    assert.equal(await two.metric("gtm_config_reloads_total", { outcome: "taken", by: "signal" }), 1);
  });
});
