/** The world file on a real disk, written by processes that are killed, and read by GTMs that start while Redis is away. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, describe, it } from "node:test";
import { worldFileOf } from "#gtm/datalayer/world-file-format.ts";
import { systemClock } from "#shared/clock.ts";
import { ModelId } from "#shared/ids.ts";
import { ordersKey } from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { askUdp, subnetOption } from "#test/support/dns-client.ts";
import { SIMULATED_MODEL } from "#test/support/engine-simulators.ts";
import { HOUSE_REGIONS, houseYaml } from "#test/support/house.ts";
import { publishReport } from "#test/support/publish-report.ts";
import { startRedis } from "#test/support/redis.ts";
import { aModelReport, aReport } from "#test/support/report-builders.ts";
import { type RunningProgram, startProgram } from "#test/support/running-program.ts";
import { until } from "#test/support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "world-file-"));
after(() => rmSync(folder, { recursive: true }));

const writing = (path: string, counts: readonly number[], before = "") => {
  const words = `${before} exec "$0" test/support/world-file-writer.ts "$@"`;
  return spawn("bash", ["-c", words, process.execPath, path, ...counts.map(String)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
};
const savedIn = (path: string) => {
  const reading = worldFileOf(readFileSync(path, "utf8"));
  assert.equal(reading.kind, "sound", JSON.stringify(reading));
  return reading.kind === "sound" ? reading.file : assert.fail();
};

describe("a process that replaces the file without end", () => {
  it("leaves a whole one behind, however often it is killed in the middle", async () => {
    const path = join(folder, "killed.json");
    for (let kill = 0; kill < 10; kill++) {
      const child = writing(path, new Array(10_000).fill(20_000));
      const ended = once(child, "exit");
      let lines = 0;
      for await (const _ of createInterface({ input: child.stdout })) {
        lines += 1;
        // In the midst of the next: they follow each other without a pause.
        if (lines === 1 + (kill % 3)) child.kill("SIGKILL");
      }
      await ended;
      assert.equal(savedIn(path).cells.length, 20_000);
    }
  });
});

describe("a disk that takes no more in the middle of a file", () => {
  it("leaves the one before and nothing beside it, and the next that fits is written", async () => {
    const path = join(folder, "full.json");
    const child = writing(path, [100, 20_000, 200], "ulimit -f 64;");
    const outcomes: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) outcomes.push(line);
    assert.deepEqual(outcomes, ["written, 0 beside", "EFBIG, 0 beside", "written, 0 beside"]);
    assert.equal(savedIn(path).cells.length, 200);
  });
});

describe("GTMs that start while Redis is away, with what another one saved", () => {
  const [EU, US] = HOUSE_REGIONS;
  const settings = (instance: string, url: string) => {
    const house = JSON.parse(houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } }));
    return {
      ...{ ...house, instance, store: { url, world_file: join(folder, `${instance}.json`) } },
      dns: { ...house.dns, why: { allow: ["127.0.0.0/8"] } },
    };
  };
  const serve = (instance: string, url: string): Promise<RunningProgram> =>
    startProgram("gtm/main.ts", "serve", settings(instance, url));
  const dnsOf = (gtm: RunningProgram) => {
    const [said] = gtm.said("dns.listening");
    return { address: String(said?.["address"]), port: Number(said?.["port"]) };
  };
  /** @param clients a /24 */
  const regionFor = (gtm: RunningProgram, clients: string) => {
    const options = subnetOption(1, 24, clients.split(".").slice(0, 3).map(Number));
    return askUdp(dnsOf(gtm), { name: "chat.llm.test", opt: { options } });
  };
  const status = async (gtm: RunningProgram) => JSON.parse((await gtm.get("admin", "/api/v1/status")).text);
  const order = async (gtm: RunningProgram, what: string, body: object): Promise<number> => {
    const response = await fetch(`${gtm.url("admin")}/api/v1/regions/${US.id}/${what}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    await response.body?.cancel();
    return response.status;
  };

  it("answer alike out of it, say so, take no order, and go on when Redis is back and empty", async () => {
    await using redis = await startRedis();
    await using closing = new AsyncDisposableStack();
    const store = openStore(StoreSettings.parse({ url: redis.url }), {
      ...{ clock: systemClock, log: silentLogger, name: "test" },
    });
    closing.defer(store.close);
    const model = ModelId.parse(SIMULATED_MODEL);
    let seq = 0;
    /** As an agent does: what does not arrive is followed by the next. */
    const report = async (): Promise<void> => {
      seq += 1;
      const reports = HOUSE_REGIONS.map(({ id }) => aReport(id, { seq, models: [aModelReport(id, { model })] }));
      await Promise.allSettled(reports.map((one) => publishReport(store, systemClock, one)));
    };
    {
      await using first = await serve("gtm-1", redis.url);
      await until(async () => {
        await report();
        return (await status(first)).regions.every((one: { health: string }) => one.health === "healthy");
      }, "both regions to be healthy");
      assert.equal(await order(first, "drain", { mode: "drain-all", comment: "maintenance" }), 200);
      process.kill(first.pid, "SIGTERM");
      await until(() => first.said("process.stopped").length > 0);
    }
    assert.deepEqual(
      savedIn(join(folder, "gtm-1.json")).orders.regions.map(({ region }) => region),
      [US.id],
    );
    redis.kill("SIGKILL");
    copyFileSync(join(folder, "gtm-1.json"), join(folder, "gtm-2.json"));

    await using one = await serve("gtm-1", redis.url);
    await using two = await serve("gtm-2", redis.url);
    for (const gtm of [one, two]) {
      assert.equal(gtm.said("world-file.used", { reports: 2 }).length, 1);
      const ready = await gtm.get("metrics", "/readyz?verbose");
      const { state, degradations, savedWorldAgeMs } = JSON.parse(ready.text);
      assert.deepEqual([ready.status, state], [200, "degraded"]);
      assert.ok(savedWorldAgeMs >= 0);
      await until(
        async () => {
          const now = (await status(gtm)).degradations.map(({ what }: { what: string }) => what);
          return ["store", "reports", "orders", "sent"].every((what) => now.includes(what));
        },
        `all to be told of, after ${JSON.stringify(degradations)}`,
      );
      assert.ok((await status(gtm)).world.savedAgeMs >= 0);
      assert.equal(await gtm.metric("gtm_degraded", { what: "store" }), 1);
      // Both regions are known, and one of them is drained, for its own clients as well.
      for (const { clients } of HOUSE_REGIONS) assert.deepEqual((await regionFor(gtm, clients)).data, [EU.address]);
      const why = (await askUdp(dnsOf(gtm), { name: "why.chat.llm.test", type: 16 })).data;
      assert.ok(
        why.some((text) => /^store=away since=\d+s$/.test(text)),
        why.join(" "),
      );
      assert.ok(
        why.some((text) => /^saved-world-age-ms=\d+$/.test(text)),
        why.join(" "),
      );
      assert.equal(await order(gtm, "undrain", {}), 503);
    }

    await redis.restart();
    await until(async () => (await redis.cli("exists", ordersKey())) === "1", "the orders to be back");
    assert.deepEqual(
      JSON.parse(await redis.cli("get", ordersKey())).regions.map(({ region }: { region: string }) => region),
      [US.id],
    );
    for (const gtm of [one, two]) {
      let left: readonly string[] = [];
      await until(async () => {
        await report();
        const { degradations, world } = await status(gtm);
        // They have no key files in common, and rightly say so.
        left = degradations
          .filter(({ what }: { what: string }) => what !== "instances")
          .map(({ what, reason }: { what: string; reason: string }) => `${what}: ${reason}`);
        return world.savedAgeMs === null && left.length === 0;
      }).catch(() => assert.deepEqual(left, [], "everything goes on from live reports"));
    }
  });
});
