import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { together } from "#edge-agent/discovery.ts";
import { dnsSource } from "#edge-agent/dns-source.ts";
import { NO_CLAIM } from "#edge-agent/gpu/model-gpus.ts";
import { createManualClock } from "#test/support/manual-clock.ts";

const MANNER = {
  wish: "vllm",
  model: null,
  aliases: {},
  caFile: null,
  apiKeyFile: null,
  bearerTokenFile: null,
  gpus: NO_CLAIM,
};
const failing = (code: string): Error => Object.assign(new Error(code), { code });

/** A resolver that says what the test says, and a source that asks it each 5 s. */
const scene = async (url: string, first: readonly string[] | Error) => {
  const clock = createManualClock();
  const changes: number[] = [];
  let says: readonly string[] | Error = first;
  let asked = 0;
  const dns = dnsSource(
    { url, manner: MANNER, refreshMs: 5_000 },
    {
      clock,
      resolve: async () => {
        asked += 1;
        if (says instanceof Error) throw says;
        return says;
      },
      onChange: (_, addresses) => changes.push(addresses),
    },
  );
  await dns.firstAsked();
  const after = async (ms: number, now: readonly string[] | Error) => {
    says = now;
    clock.advance(ms);
    dns.source();
    await new Promise((resolve) => setImmediate(resolve));
    return dns.source();
  };
  return { source: dns.source, after, changes, asked: () => asked };
};
const addresses = ({ places }: { places: readonly { address: string }[] }) => places.map(({ address }) => address);

describe("a DNS name", () => {
  it("is every address behind it, each asked under the name", async () => {
    const { source } = await scene("https://vllm.llm.svc:8443/base/", [
      "10.0.0.7",
      "10.0.0.5",
      "2001:db8::1",
      "10.0.0.5",
    ]);
    assert.deepEqual(
      source().places.map(({ address, url, host, wish }) => [address, url, host, wish]),
      ["10.0.0.5:8443", "10.0.0.7:8443", "[2001:db8::1]:8443"].map((at) => [
        ...[at, `https://${at}/base`],
        ...["vllm.llm.svc:8443", "vllm"],
      ]),
    );
    assert.deepEqual(source().faults, []);
  });
  it("has its scheme's port where none is written", async () => {
    assert.deepEqual(addresses((await scene("http://vllm.llm.svc", ["10.0.0.5"])).source()), ["10.0.0.5:80"]);
  });
  it("is asked again after 5 s, and replicas come and go", async () => {
    const { after, asked, changes } = await scene("http://v:8000", ["10.0.0.5"]);
    assert.deepEqual(addresses(await after(4_999, ["10.0.0.6"])), ["10.0.0.5:8000"]);
    assert.equal(asked(), 1);
    assert.deepEqual(addresses(await after(1, ["10.0.0.6", "10.0.0.7"])), ["10.0.0.6:8000", "10.0.0.7:8000"]);
    assert.deepEqual([asked(), changes], [2, [1, 2]]);
  });
  it("that cannot be resolved keeps its addresses for 30 s, and says so", async () => {
    const { after, changes } = await scene("http://v:8000", ["10.0.0.5"]);
    const soon = await after(5_000, failing("EAI_AGAIN"));
    assert.deepEqual(
      [addresses(soon), soon.faults],
      [["10.0.0.5:8000"], [{ source: "v:8000", field: "engines", code: "dns-ai_again" }]],
    );
    assert.deepEqual(addresses(await after(24_000, failing("ENOTFOUND"))), ["10.0.0.5:8000"]);
    const late = await after(5_000, failing("ENOTFOUND"));
    assert.deepEqual([addresses(late), late.faults[0]?.code, changes], [[], "dns-notfound", [1, 0]]);
    const back = await after(5_000, ["10.0.0.9"]);
    assert.deepEqual([addresses(back), back.faults], [["10.0.0.9:8000"], []]);
  });
  it("that was never resolved has nobody, and says so", async () => {
    const { source } = await scene("http://v:8000", failing("ENOTFOUND"));
    assert.deepEqual(source(), { places: [], faults: [{ source: "v:8000", field: "engines", code: "dns-notfound" }] });
  });
});

describe("several sources", () => {
  it("have an address once: the first one's", async () => {
    const place = { ...MANNER, address: "10.0.0.5:8000", url: "http://10.0.0.5:8000", host: null };
    const found = together([
      () => ({ places: [place], faults: [] }),
      (await scene("http://v:8000", ["10.0.0.5", "10.0.0.6"])).source,
    ])();
    assert.deepEqual(addresses(found), ["10.0.0.5:8000", "10.0.0.6:8000"]);
    assert.equal(found.places[0]?.host, null);
    assert.deepEqual(found.faults, [{ source: "10.0.0.5:8000", field: "engines", code: "named-twice" }]);
  });
});
