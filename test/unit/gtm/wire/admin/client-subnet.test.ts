/** From what a person types to the network that steering looks at. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clientSubnetOf } from "#gtm/wire/admin/client-subnet.ts";

describe("a client typed as", () => {
  const cases: readonly { text: string; subnet: string | null }[] = [
    { text: "203.0.113.7", subnet: "203.0.113.0/24" },
    { text: "203.0.113.7/32", subnet: "203.0.113.0/24" },
    { text: "203.0.113.0/24", subnet: "203.0.113.0/24" },
    { text: "203.0.113.77/20", subnet: "203.0.112.0/20" },
    { text: "0.0.0.0/0", subnet: "0.0.0.0/0" },
    { text: "2001:db8:1:2::3", subnet: "2001:db8:1::/48" },
    { text: "2001:DB8:1:2::/32", subnet: "2001:db8::/32" },
    { text: "::ffff:203.0.113.7", subnet: "203.0.113.0/24" },
    { text: "::ffff:203.0.113.7/112", subnet: "203.0.0.0/16" },
    { text: "::ffff:203.0.113.7/95", subnet: null },
    { text: "203.0.113.7/33", subnet: null },
    { text: "2001:db8::/129", subnet: null },
    { text: "203.0.113.7/-1", subnet: null },
    { text: "203.0.113.7/", subnet: null },
    { text: "203.0.113.7/24/8", subnet: null },
    { text: "203.0.113", subnet: null },
    { text: "1", subnet: null },
    { text: "0x7f.0.0.1", subnet: null },
    { text: "fe80::1%eth0", subnet: null },
    { text: "example.org", subnet: null },
    { text: "", subnet: null },
  ];
  for (const { text, subnet } of cases) {
    it(`"${text}" is ${subnet ?? "refused"}`, () => {
      assert.equal(clientSubnetOf(text), subnet);
    });
  }
});
