import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readAddress } from "#gtm/wire/dns/peer-address.ts";
import { createRateLimiter, RATE_TABLE_OCTETS, type RateLimitSettings } from "#gtm/wire/dns/rate-limit.ts";

/** The same sets in every run. */
const seeded = (): ArrayBuffer => {
  const memory = new ArrayBuffer(RATE_TABLE_OCTETS);
  new Uint8Array(memory, 0, 8).fill(1);
  return memory;
};

const limiter = (wish: Partial<RateLimitSettings> = {}) => {
  const made = createRateLimiter({ perPrefixQps: 10, slip: 2, exempt: [], ...wish }, seeded());
  made.tick(1_000);
  const octets = new Uint8Array(16);
  const take = (address: string) => made.take(octets, readAddress(address, octets));
  const many = (address: string, count: number) => {
    const counts = { pass: 0, slip: 0, drop: 0 };
    for (let i = 0; i < count; i++) counts[take(address)] += 1;
    return counts;
  };
  return { ...made, take, many };
};

describe("a network with a limit of 10 answers a second", () => {
  it("gets 10 at once, and of those beyond every second one slips", () =>
    assert.deepEqual(limiter().many("192.0.2.1", 30), { pass: 10, slip: 10, drop: 10 }));
  it("has each query beyond slip where slip is 1, and every third where it is 3", () => {
    assert.deepEqual(limiter({ slip: 1 }).many("192.0.2.1", 30), { pass: 10, slip: 20, drop: 0 });
    assert.deepEqual(limiter({ slip: 3 }).many("192.0.2.1", 40), { pass: 10, slip: 10, drop: 20 });
  });
  it("gets 5 more after half a second, and never more than 10 however long it was silent", () => {
    const { many, tick } = limiter();
    many("192.0.2.1", 30);
    tick(1_500);
    assert.equal(many("192.0.2.1", 30).pass, 5);
    tick(3_600_000);
    assert.equal(many("192.0.2.1", 30).pass, 10);
  });
  it("is a /24 of IPv4, however it came, and a /56 of IPv6", () => {
    const { many, take } = limiter();
    many("192.0.2.1", 10);
    many("2001:db8:0:ff00::1", 10);
    assert.notEqual(take("192.0.2.254"), "pass");
    assert.notEqual(take("::ffff:192.0.2.9"), "pass");
    assert.equal(take("192.0.3.1"), "pass");
    assert.notEqual(take("2001:db8:0:ffff::1"), "pass");
    assert.equal(take("2001:db8:0:fe00::1"), "pass");
    assert.equal(take("2001:db8:1:ff00::1"), "pass");
  });
  it("is named when it was limited, no finer than what may be logged", () => {
    const { many, lastLimited } = limiter();
    assert.equal(lastLimited(), null);
    many("192.0.2.77", 11);
    assert.equal(lastLimited(), "192.0.2.0/24");
    many("2001:db8:5:ff00::1", 11);
    assert.equal(lastLimited(), "2001:db8:5::/48");
  });
  it("is not limited where it is exempt, or where there is no limit", () => {
    const { many } = limiter({ exempt: ["192.0.2.128/25", "2001:db8::/32", "::ffff:198.51.100.0/120"] });
    assert.equal(many("192.0.2.129", 50).pass, 50);
    assert.equal(many("192.0.2.127", 50).pass, 10);
    assert.equal(many("2001:db8:ffff::1", 50).pass, 50);
    assert.equal(many("198.51.100.9", 50).pass, 50);
    assert.equal(limiter({ perPrefixQps: null }).many("192.0.2.1", 50).pass, 50);
  });
});

describe("a spoofed flood from a million networks", () => {
  const flooded = () => {
    const made = limiter();
    for (let i = 0; i < 1_000_000; i++) made.take(`${11 + (i >>> 16)}.${(i >>> 8) & 255}.${i & 255}.1`);
    return made;
  };
  it("charges nobody else: a network that was silent gets its 10", () =>
    assert.deepEqual(flooded().many("192.0.2.1", 12), { pass: 10, slip: 1, drop: 1 }));
  it("does not forgive the network that is over its rate", () => {
    const made = limiter();
    let passed = 0;
    for (let i = 0; i < 100_000; i++) {
      made.take(`${11 + (i >>> 16)}.${(i >>> 8) & 255}.${i & 255}.1`);
      if (i % 100 === 0 && made.take("192.0.2.1") === "pass") passed += 1;
    }
    assert.equal(passed, 10, "of 1 000 queries");
  });
});

describe("threads that share a table", () => {
  it("give a network together what one would give it alone, also where one's time is a tick behind", () => {
    const memory = new SharedArrayBuffer(RATE_TABLE_OCTETS);
    const settings = { perPrefixQps: 10, slip: 2, exempt: [] };
    const threads = [createRateLimiter(settings, memory), createRateLimiter(settings, memory)];
    const octets = new Uint8Array(16);
    const passed = (atMs: readonly number[]): number => {
      let pass = 0;
      for (let i = 0; i < 40; i++) {
        const thread = threads[i % 2];
        thread?.tick(atMs[i % 2] ?? 0);
        if (thread?.take(octets, readAddress("192.0.2.1", octets)) === "pass") pass += 1;
      }
      return pass;
    };
    assert.equal(passed([1_050, 1_000]), 10);
    assert.equal(passed([1_550, 1_500]), 5);
  });
});
