/** The .socket unit of DNS: what it opens, in which order, and that the program takes it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { DnsListen, dnsListenFaults } from "#gtm/config/dns-listen-settings.ts";

const text = readFileSync("deploy/systemd/llm-gtm.socket", "utf8");
const lines = text.split("\n").filter((line) => !line.startsWith("#"));
const opened = lines.flatMap((line) => {
  const [, kind, at] = /^Listen(Datagram|Stream)=(.+)$/.exec(line) ?? [];
  return kind === undefined || at === undefined ? [] : [{ kind, at }];
});

describe("llm-gtm.socket", () => {
  it("opens UDP and TCP of each address, and its comment names as many descriptors", () => {
    for (const { at } of opened) {
      const kinds = opened.filter((one) => one.at === at).map(({ kind }) => kind);
      assert.deepEqual(kinds.toSorted(), ["Datagram", "Stream"], at);
    }
    const named = [...text.matchAll(/"(fd:\d+)"/g)].map(([, fd]) => DnsListen.parse(fd));
    assert.deepEqual(
      named,
      opened.map((_, i) => ({ fd: 3 + i })),
    );
    assert.deepEqual(dnsListenFaults(named, 1), []);
  });
  it("keeps IPv4 out of the sockets of IPv6, and the sockets when the service fails", () => {
    assert.ok(lines.includes("BindIPv6Only=ipv6-only"));
    assert.ok(lines.includes("TriggerLimitIntervalSec=0"));
  });
  it("belongs to the service of the same name", () => {
    assert.ok(readFileSync("deploy/systemd/llm-gtm.service", "utf8").includes("[Service]"));
    assert.ok(!lines.some((line) => line.startsWith("Service=")));
  });
});
