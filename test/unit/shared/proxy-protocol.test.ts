import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { readProxyHeader } from "#shared/proxy-protocol.ts";

const SIGNATURE = "0d0a0d0a000d0a515549540a";
const header = (versionAndCommand: string, family: string, body: string, length = body.length / 2): Buffer =>
  Buffer.from(`${SIGNATURE}${versionAndCommand}${family}${length.toString(16).padStart(4, "0")}${body}`, "hex");

/** 192.0.2.7:54321 to 198.51.100.1:443. */
const IPV4 = "c0000207c6336401d43101bb";
/** [2001:db8::7]:54321 to [2001:db8::1]:443. */
const IPV6 = `20010db8${"0".repeat(23)}720010db8${"0".repeat(23)}1d43101bb`;

describe("the header of PROXY protocol version 2", () => {
  it("tells an IPv4 client, and how long it is itself, whatever follows", () => {
    const octets = Buffer.concat([header("21", "11", IPV4), Buffer.from("GET / HTTP/1.1")]);
    assert.deepEqual(readProxyHeader(octets), {
      kind: "read",
      octets: 28,
      client: { address: "192.0.2.7", port: 54_321 },
    });
  });

  it("tells an IPv6 client", () => {
    assert.deepEqual(readProxyHeader(header("21", "21", IPV6)), {
      kind: "read",
      octets: 52,
      client: { address: "2001:db8:0:0:0:0:0:7", port: 54_321 },
    });
  });

  it("may carry more than addresses", () => {
    const reading = readProxyHeader(header("21", "11", `${IPV4}0400021234`));
    assert.equal(reading.kind === "read" && reading.client?.address, "192.0.2.7");
  });

  const others: readonly { name: string; octets: Buffer; expected: unknown }[] = [
    {
      name: "a health check of the balancer itself",
      octets: header("20", "00", ""),
      expected: { kind: "read", octets: 16, client: null },
    },
    {
      name: "a socket without addresses",
      octets: header("21", "00", ""),
      expected: { kind: "read", octets: 16, client: null },
    },
    {
      name: "a TLS client hello",
      octets: Buffer.from("1603010200010001fc0303", "hex"),
      expected: { kind: "malformed", why: "no-signature" },
    },
    {
      name: "version 1",
      octets: Buffer.from("PROXY TCP4 1.2.3.4"),
      expected: { kind: "malformed", why: "no-signature" },
    },
    { name: "version 3", octets: header("31", "11", IPV4), expected: { kind: "malformed", why: "version" } },
    { name: "an unknown command", octets: header("22", "11", IPV4), expected: { kind: "malformed", why: "command" } },
    {
      name: "addresses that are cut",
      octets: header("21", "11", IPV4.slice(0, 8)),
      expected: { kind: "malformed", why: "too-short" },
    },
    { name: "60 kB of it", octets: header("21", "11", IPV4, 60_000), expected: { kind: "malformed", why: "too-long" } },
  ];
  for (const { name, octets, expected } of others) {
    it(`reads ${name} as it is`, () => assert.deepEqual(readProxyHeader(octets), expected));
  }

  it("asks for more at every cut", () => {
    const whole = header("21", "21", IPV6);
    for (let length = 0; length < whole.length; length++) {
      assert.deepEqual(readProxyHeader(whole.subarray(0, length)), { kind: "incomplete" });
    }
  });

  it("takes any octets without throwing", () => {
    fc.assert(
      fc.property(fc.boolean(), fc.uint8Array({ maxLength: 64 }), (isSigned, rest) => {
        readProxyHeader(Buffer.concat([Buffer.from(isSigned ? SIGNATURE : "", "hex"), rest]));
      }),
    );
  });
});
