/** What the doctor says of name servers. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseGtmConfig } from "#gtm/config.ts";
import type { Asked } from "#gtm/dns-check/ask.ts";
import { dnsFindings } from "#gtm/doctor/dns.ts";
import { aRecord, aReply, askOf, noAnswer } from "#test/support/dns-replies.ts";
import { houseYaml } from "#test/support/house.ts";

const CONFIG = parseGtmConfig(
  houseYaml(() => "http://127.0.3.9:1"),
  "test",
  {},
);
const answer = aReply({ answers: [aRecord("llm.test", "SOA", "ns1 x 1 1 1 1 1")] });
const look = async (answers: (address: string) => Asked, config = CONFIG) => {
  const { ask } = askOf(answers);
  const findings = await dnsFindings(config, { ask, sleep: async () => undefined });
  return findings.map(({ severity, id, what }) => ({ said: `${severity} ${id}`, what }));
};

describe("the doctor on name servers", () => {
  it("finds them in order where they answer alike", async () => {
    assert.deepEqual(
      (await look(() => answer)).map(({ said }) => said),
      ["ok dns-same"],
    );
  });
  it("does not know where none answers this host, which is no problem", async () => {
    const [finding] = await look(() => noAnswer());
    assert.equal(finding?.said, "unknown dns-away");
    assert.match(finding?.what ?? "", /127\.0\.0\.1 and 127\.0\.0\.2 \(no answer within 3 s\)/);
  });
  it("has a problem where one of them is silent, or another", async () => {
    const silent = await look((address) => (address === "127.0.0.2" ? noAnswer() : answer));
    assert.deepEqual(
      silent.map(({ said }) => said),
      ["problem dns-unable"],
    );
    const other = aReply({ answers: [aRecord("llm.test", "SOA", "ns1 x 2 1 1 1 1")] });
    const differing = await look((address) => (address === "127.0.0.2" ? other : answer));
    assert.ok(differing.length > 0 && differing.every(({ said }) => said === "problem dns-differs"));
  });
  it("does not know where it is not told their addresses", async () => {
    const ns = CONFIG.dns.zone.ns.map((server) => ({ ...server, ipv4: [] }));
    const config = { ...CONFIG, dns: { ...CONFIG.dns, zone: { ...CONFIG.dns.zone, ns } } };
    assert.deepEqual(
      (await look(() => answer, config)).map(({ said }) => said),
      ["unknown dns-away"],
    );
  });
});
