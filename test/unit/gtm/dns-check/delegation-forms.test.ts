/** What is pasted at the parent. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { delegationForm, FORM_NAMES } from "#gtm/dns-check/delegation-forms.ts";

const zone = {
  name: "llm.example.com",
  ns: [
    { name: "ns2.llm.example.com", ipv4: ["198.51.100.2"], ipv6: [] },
    { name: "ns1.llm.example.com", ipv4: ["198.51.100.9", "198.51.100.1"], ipv6: ["2001:DB8:1:0::53"] },
    { name: "gtm.example.net", ipv4: ["203.0.113.1"], ipv6: [] },
  ],
};
const textOf = (form: (typeof FORM_NAMES)[number], ttl = 3_600): string => delegationForm(form, zone, ttl).text;

describe("the delegation of a zone with name servers inside and outside", () => {
  it("has glue in a zone file for those inside alone, sorted as terraform/modules/delegation does", () => {
    assert.equal(
      textOf("bind"),
      `llm.example.com. 3600 IN NS gtm.example.net.
llm.example.com. 3600 IN NS ns1.llm.example.com.
llm.example.com. 3600 IN NS ns2.llm.example.com.
ns1.llm.example.com. 3600 IN A 198.51.100.1
ns1.llm.example.com. 3600 IN A 198.51.100.9
ns1.llm.example.com. 3600 IN AAAA 2001:db8:1::53
ns2.llm.example.com. 3600 IN A 198.51.100.2
`,
    );
  });
  it("is for Route 53 a change batch, a record set each", () => {
    const { Comment, Changes } = JSON.parse(textOf("route53", 300));
    assert.equal(Comment, "Delegation of llm.example.com");
    assert.equal(Changes.length, 4);
    assert.deepEqual(Changes[1], {
      Action: "UPSERT",
      ResourceRecordSet: {
        ...{ Name: "ns1.llm.example.com.", Type: "A", TTL: 300 },
        ResourceRecords: [{ Value: "198.51.100.1" }, { Value: "198.51.100.9" }],
      },
    });
    assert.deepEqual(Changes[0].ResourceRecordSet.ResourceRecords[0], { Value: "gtm.example.net." });
  });
  it("is for Cloudflare a batch of records, the addresses past its proxy", () => {
    const { posts } = JSON.parse(textOf("cloudflare"));
    assert.equal(posts.length, 7);
    assert.deepEqual(posts[0], { type: "NS", name: "llm.example.com", ttl: 3_600, content: "gtm.example.net" });
    assert.deepEqual(posts[6], {
      ...{ type: "A", name: "ns2.llm.example.com", ttl: 3_600, content: "198.51.100.2", proxied: false },
    });
  });
  it("is for a registrar a list of hosts with their addresses", () => {
    assert.equal(
      textOf("registrar"),
      `name server          IPv4                        IPv6
ns2.llm.example.com  198.51.100.2                -
ns1.llm.example.com  198.51.100.1, 198.51.100.9  2001:db8:1::53
gtm.example.net      -                           -
`,
    );
  });
  it("says where to put it, and of a zone without glue why it has none", () => {
    const outside = { name: zone.name, ns: zone.ns.slice(2) };
    for (const form of FORM_NAMES.filter((one) => one !== "registrar")) {
      assert.match(delegationForm(form, zone, 3_600).how, /example\.com/);
      assert.match(delegationForm(form, outside, 3_600).how, /every name server is outside llm\.example\.com/);
      assert.doesNotMatch(delegationForm(form, outside, 3_600).text, /203\.0\.113\.1/);
    }
  });
});

describe("the zone file's lines", () => {
  it("are those that the Terraform module's own tests expect of the same name servers", () => {
    const tests = readFileSync("terraform/tests/delegation-records.tftest.hcl", "utf8");
    const expected = [...tests.matchAll(/zone_file == <<-EOT\n(.*?)\n\s*EOT/gs)].map(([, text = ""]) =>
      text.replace(/^ +/gm, ""),
    );
    const two = { name: "ns2.llm.example.com", ipv4: ["198.51.100.2"], ipv6: ["2001:db8:2::53"] };
    const one = { name: "ns1.llm.example.com", ipv4: ["198.51.100.1"], ipv6: ["2001:DB8:1:0::53"] };
    const three = { ...two, ipv4: ["198.51.100.3", "198.51.100.2"] };
    for (const [at, ns] of [
      [two, one],
      [three, one],
    ].entries()) {
      assert.equal(delegationForm("bind", { name: zone.name, ns }, 3_600).text, `${expected[at]}\n`);
    }
  });
});
