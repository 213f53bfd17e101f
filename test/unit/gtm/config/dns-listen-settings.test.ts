import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DnsListen, DnsWorkers, dnsListenFaults, dnsWorkersWarnings } from "#gtm/config/dns-listen-settings.ts";

const HTTP = { address: "127.0.0.1", port: 53 };

describe("a place where DNS listens", () => {
  for (const [text, at] of [
    ["127.0.0.1:53", HTTP],
    ["[::]:53", { address: "::", port: 53 }],
    ["fd:3", { fd: 3 }],
    ["fd:12", { fd: 12 }],
  ] as const) {
    it(`is ${text}`, () => assert.deepEqual(DnsListen.parse(text), at));
  }
  for (const text of ["fd:2", "fd:", "fd:3x", "127.0.0.1", "[::]", "localhost:53", "127.0.0.1:65536"]) {
    it(`is not ${text}`, () => assert.equal(DnsListen.safeParse(text).success, false));
  }
});

describe("the threads that answer DNS", () => {
  it("are one where nothing is said", () => assert.equal(DnsWorkers.parse(undefined), 1));
  for (const workers of [0, 65, 1.5]) {
    it(`are not ${workers}`, () => assert.equal(DnsWorkers.safeParse(workers).success, false));
  }
  it("are warned of where there are more than cores", () => {
    assert.deepEqual(dnsWorkersWarnings(1, 1), []);
    assert.deepEqual(dnsWorkersWarnings(4, 4), []);
    assert.match(dnsWorkersWarnings(5, 4).join(), /dns\.workers is 5, and this host has 4 cores/);
  });
});

describe("descriptors as places to listen", () => {
  const said = (listen: Parameters<typeof dnsListenFaults>[0], workers: number): readonly string[] =>
    dnsListenFaults(listen, workers).map(({ path, message }) => `${path.join(".")}: ${message}`);
  it("come in pairs", () => {
    assert.deepEqual(said([{ fd: 3 }, { fd: 4 }, HTTP], 1), []);
    assert.match(said([HTTP, { fd: 3 }], 1).join(), /^listen\.1: needs a second descriptor/);
  });
  it("stand there once", () => {
    assert.deepEqual(said([{ fd: 3 }, { fd: 4 }, { fd: 3 }], 1), ["listen.2: fd:3 stands here twice"]);
  });
  it("are not for several threads", () => {
    assert.deepEqual(said([HTTP], 4), []);
    assert.match(said([{ fd: 3 }, { fd: 4 }], 2).join(), /^workers: each thread opens sockets of its own/);
  });
});
