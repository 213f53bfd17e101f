import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { changesBetween } from "#gtm/config/setting-changes.ts";
import { settingsTaken } from "#gtm/config/settings-at-start.ts";
import { shownReferences, shownSettings } from "#gtm/config/shown-settings.ts";
import { parseGtmConfig } from "#gtm/config.ts";
import { pathKey } from "#shared/config-path.ts";
import { houseYaml } from "#test/support/house.ts";

type Change = (house: ReturnType<typeof JSON.parse>) => object;

const settingsOf = (change: Change = (house) => house) =>
  parseGtmConfig(JSON.stringify(change(JSON.parse(houseYaml(() => "http://127.0.3.9:1")))), "test", {}).given;

const base = settingsOf();
/** As a file has it. */
const REFERENCE = `\${NAME}`;
const differences = (change: Change) =>
  changesBetween(shownSettings(base), shownSettings(settingsOf(change))).map(
    ({ at, kind, from, to, effect }) => [kind, at, from, to, effect] as const,
  );

describe("what differs between two configurations", () => {
  it("is nothing where a default is written out, or keys stand in another order", () => {
    assert.deepEqual(
      differences(({ policy: _, ...house }) => ({ policy: { margin: "50ms", pin: "15m" }, ...house })),
      [],
    );
  });

  it("is said key by key, in the words of a file, with when it takes effect", () => {
    const changed = differences((house) => ({
      ...house,
      policy: { margin: "80ms" },
      admin: { listen: "127.0.0.1:9443" },
      store: { url: "memory:", deadline: "2s" },
    }));
    assert.deepEqual(changed.toSorted(), [
      ["changed", "admin.listen", "127.0.0.1:0", "127.0.0.1:9443", "restart"],
      ["changed", "policy.margin", "50ms", "80ms", "live"],
      ["changed", "store.deadline", "500ms", "2s", "restart"],
    ]);
  });

  it("names regions, not their place in the list", () => {
    const changed = differences((house) => ({
      ...house,
      regions: [
        { ...house.regions[1], jurisdiction: "us" },
        { ...house.regions[0], id: "ap-south" },
      ],
      pools: [{ ...house.pools[0], regions: ["us-east", "ap-south"] }],
    }));
    assert.deepEqual(
      changed.map(([kind, at]) => `${kind} ${at}`),
      [
        "removed regions.eu-central",
        "changed regions.us-east.jurisdiction",
        "added regions.ap-south",
        "changed pools.chat.regions",
      ],
    );
  });

  it("is the order, where a list has the same in another one", () => {
    const changed = differences((house) => ({ ...house, regions: house.regions.toReversed() }));
    assert.deepEqual(changed, [["changed", "regions", ["eu-central", "us-east"], ["us-east", "eu-central"], "live"]]);
  });
});

describe("settings that are shown", () => {
  it("have no password, and the file's word where a variable was put in", () => {
    const settings = settingsOf((house) => ({
      ...house,
      store: { url: "redis://gtm:hunter2@redis.example.org:6379" },
    }));
    assert.equal((shownSettings(settings)["store"] as { url: string }).url, "redis://gtm@redis.example.org:6379");
    const references = new Map([
      [pathKey(["store", "url"]), `redis://gtm:hunter2@${REFERENCE}`],
      [pathKey(["regions", 1, "id"]), REFERENCE],
      [pathKey(["gone", "key"]), REFERENCE],
    ]);
    const shown = shownReferences(settings, references);
    assert.equal((shown["store"] as { url: string }).url, `redis://gtm@${REFERENCE}`);
    assert.deepEqual(
      (shown["regions"] as readonly { id: string }[]).map(({ id }) => id),
      ["eu-central", REFERENCE],
    );
    assert.ok(!JSON.stringify(shown).includes("hunter2"));
  });
});

describe("a configuration that is taken while the process runs", () => {
  it("has the store, listeners and zone of the start, and the rest of the file", () => {
    const file = settingsOf((house) => ({
      ...house,
      dns: { ...house.dns, listen: ["127.0.0.1:5353"], why: { allow: ["127.0.0.0/8"] } },
      store: { url: "memory:", deadline: "2s" },
      policy: { margin: "80ms" },
    }));
    const taken = settingsTaken(file, base);
    assert.deepEqual(taken.store, base.store);
    assert.deepEqual(taken.dns.listen, base.dns.listen);
    assert.deepEqual(taken.dns.why.allow, ["127.0.0.0/8"]);
    assert.equal(taken.policy.margin, 80);
  });
});
