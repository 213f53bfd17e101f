import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPeerTexts } from "#gtm/wire/dns/peer-texts.ts";
import { SOCKADDR_OCTETS, writeSocketAddress } from "#gtm/wire/dns/socket-address.ts";

const nameOf = (address: string): Buffer => {
  const name = Buffer.alloc(SOCKADDR_OCTETS);
  writeSocketAddress(name, { address, port: 53 }, () => 0);
  return name;
};

describe("texts of peers", () => {
  it("are those of their addresses, however many share a place", () => {
    const peers = createPeerTexts();
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 10_000; i++) {
        const address = `10.${i >>> 8}.${i & 0xff}.${(i * 7) & 0xff}`;
        assert.equal(peers.textOf(nameOf(address), 0), address);
      }
    }
    assert.equal(peers.textOf(nameOf("0.0.0.0"), 0), "0.0.0.0");
    assert.equal(peers.textOf(nameOf("2001:db8::1"), 0), "2001:db8:0:0:0:0:0:1");
  });
});
