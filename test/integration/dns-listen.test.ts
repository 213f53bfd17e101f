/** Opening the DNS server's sockets: several addresses, a port that is taken, and errors that must not end the process. */
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { describe, it } from "node:test";
import { createDnsServer } from "#gtm/wire/dns/server.ts";
import { OperationalError } from "#shared/errors.ts";
import { askTcp, askUdp } from "#test/support/dns-client.ts";
import { aDnsSetting } from "#test/support/dns-zone.ts";

const refusalOf = async (listen: readonly { readonly address: string; readonly port: number }[]): Promise<string> => {
  const { options } = aDnsSetting({ listen });
  const server = createDnsServer(options);
  const fault = await server.start().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  assert.ok(fault instanceof OperationalError, "start rejects with an OperationalError");
  assert.equal(fault.code, "GTM_LISTEN_FAILED");
  assert.deepEqual(server.addresses(), [], "nothing stays open");
  return fault.message;
};

describe("a DNS server with several listen addresses", () => {
  it("answers on each, over UDP and TCP on one port, also over IPv6", async () => {
    const listen = [
      { address: "127.0.0.1", port: 0 },
      { address: "127.0.0.2", port: 0 },
      { address: "::1", port: 0 },
    ];
    const { options } = aDnsSetting({ listen });
    const server = createDnsServer(options);
    await server.start();
    const addresses = server.addresses();
    assert.deepEqual(
      addresses.map(({ address }) => address),
      listen.map(({ address }) => address),
    );
    for (const at of addresses) {
      for (const ask of [askUdp, askTcp]) assert.equal((await ask(at, {})).rcode, 0);
    }
    await server.stop();
  });
});

describe("a DNS server whose port is taken", () => {
  it("does not start, and names protocol, address and port: UDP", async () => {
    const other = createSocket("udp4");
    other.bind(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address();
    const message = await refusalOf([
      { address: "127.0.0.2", port: 0 },
      { address: "127.0.0.1", port },
    ]);
    assert.match(message, new RegExp(`udp 127\\.0\\.0\\.1:${port}.*EADDRINUSE`));
    other.close();
  });

  it("does not start, and names protocol, address and port: TCP; UDP is free again", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const at = other.address();
    const port = typeof at === "object" && at !== null ? at.port : 0;
    assert.match(
      await refusalOf([{ address: "127.0.0.1", port }]),
      new RegExp(`tcp 127\\.0\\.0\\.1:${port}.*EADDRINUSE`),
    );
    const udp = createSocket("udp4");
    udp.bind(port, "127.0.0.1");
    await once(udp, "listening");
    udp.close();
    other.close();
  });

  it("does not start on an address that this machine does not have", async () => {
    assert.match(await refusalOf([{ address: "192.0.2.1", port: 0 }]), /udp 192\.0\.2\.1:0.*EADDRNOTAVAIL/);
  });
});
