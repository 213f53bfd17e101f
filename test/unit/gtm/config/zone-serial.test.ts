import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { servedSerial } from "#gtm/config/zone-serial.ts";
import { parseGtmConfig } from "#gtm/config.ts";
import { houseYaml } from "#test/support/house.ts";

const config = (serial: number, front = "127.0.0.1") => {
  const house = JSON.parse(houseYaml(() => "http://127.0.3.9:1"));
  const dns = { ...house.dns, soa: { ...house.dns.soa, serial } };
  return parseGtmConfig(JSON.stringify({ ...house, dns, http: { ...house.http, addresses: [front] } }), "test", {});
};

describe("the serial of a zone whose configuration is taken anew", () => {
  const cases = [
    { when: "the file's rises", was: config(7), now: config(9, "127.0.0.2"), served: 9 },
    {
      when: "the zone is another and the file's does not rise",
      was: config(7),
      now: config(7, "127.0.0.2"),
      served: 8,
    },
    { when: "the zone is another and the file's falls", was: config(7), now: config(3, "127.0.0.2"), served: 8 },
    { when: "the zone is the same", was: config(7), now: config(7), served: 7 },
    { when: "the zone is the same and the file's falls", was: config(7), now: config(3), served: 7 },
    { when: "there is no higher number", was: config(0xffff_ffff), now: config(0xffff_ffff, "127.0.0.2"), served: 0 },
    { when: "the file's goes on past the highest number", was: config(0xffff_fff0), now: config(5), served: 5 },
  ];
  for (const { when, was, now, served } of cases) {
    it(`is ${served} where ${when}`, () => assert.equal(servedSerial(was, now), served));
  }
});
