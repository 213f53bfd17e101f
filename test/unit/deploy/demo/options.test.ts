/** The demo's command line: what is taken, what is refused and how, and that no two sockets get one port. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { optionsOf } from "#deploy/demo/options.ts";
import { gtmPortsAt, regionPortsAt } from "#deploy/demo/places.ts";

describe("the demo without options", () => {
  it("is one GTM in memory, with a token of its own", () => {
    const { token, ...others } = optionsOf([]);
    assert.deepEqual(others, { script: false, quiet: false, help: false, offset: 0, redis: null });
    assert.ok(token.length >= 32);
    assert.notEqual(optionsOf([]).token, token);
  });
});

describe("--redis", () => {
  const taken: readonly { url: string; kind: string }[] = [
    { url: "redis://127.0.0.1:6390", kind: "single" },
    { url: "redis://user:secret@redis.example.org/1", kind: "single" },
    { url: "rediss://redis.example.org", kind: "single" },
    { url: "redis+sentinel://192.0.2.1:26379,192.0.2.2:26379/gtm", kind: "sentinel" },
    { url: "rediss+cluster://192.0.2.1:6379,192.0.2.2:6379", kind: "cluster" },
  ];
  for (const { url, kind } of taken) {
    it(`takes ${url}`, () => {
      const { redis } = optionsOf(["--redis", url]);
      assert.equal(redis?.url, url);
      assert.equal(redis?.address.kind, kind);
    });
  }

  const refused = ["memory:", "127.0.0.1:6390", "http://127.0.0.1", "redis://", "redis://user:secret@host:99999", ""];
  for (const url of refused) {
    it(`refuses "${url}" and does not repeat what may be a password`, () => {
      assert.throws(
        () => optionsOf(["--redis", url]),
        (fault: Error) => {
          assert.ok(fault instanceof TypeError);
          assert.match(fault.message, /^--redis must be redis:\/\/host:6379, redis\+sentinel:/);
          return !fault.message.includes("secret");
        },
      );
    });
  }
});

describe("--port-offset", () => {
  const cases: readonly { text: string; offset: number | null }[] = [
    { text: "0", offset: 0 },
    { text: "100", offset: 100 },
    { text: "-4276", offset: -4_276 },
    { text: "56091", offset: 56_091 },
    { text: "-4277", offset: null },
    { text: "56092", offset: null },
    { text: "1.5", offset: null },
    { text: "1e3", offset: null },
    { text: "", offset: null },
  ];
  for (const { text, offset } of cases) {
    it(`${offset === null ? "refuses" : "takes"} "${text}"`, () => {
      const asked = () => optionsOf([`--port-offset=${text}`]).offset;
      if (offset === null)
        assert.throws(asked, /^TypeError: --port-offset must be a whole number from -4276 to 56091, got /);
      else assert.equal(asked(), offset);
    });
  }

  it("keeps every port a legal one that needs no privilege, and no two GTMs on one", () => {
    for (const offset of [-4_276, 0, 56_091]) {
      const ports = [...Object.values(gtmPortsAt(offset, 0)), ...Object.values(gtmPortsAt(offset, 1))];
      assert.equal(new Set(ports).size, 8);
      for (const port of [...ports, ...Object.values(regionPortsAt(offset))])
        assert.ok(port >= 1_024 && port <= 65_535, `${port}`);
    }
  });
});
