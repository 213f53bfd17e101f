import assert from "node:assert/strict";
import { endianness } from "node:os";
import { describe, it } from "node:test";
import { inheritedSocket, type Surroundings } from "#gtm/wire/dns/inherited.ts";

const HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
const row = (local: string, state: string, inode: number): string =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 2 0000000000000000 0`;

/** The kernel writes words in the machine's own order. */
const hex = (octets: readonly number[]): string => {
  const words = Buffer.from(octets);
  return (endianness() === "LE" ? words.swap32() : words).toString("hex").toUpperCase();
};
const LOOPBACK_6 = [...new Array<number>(15).fill(0), 1];

const TABLES = {
  udp: [HEADER, row(`${hex([127, 0, 0, 1])}:0035`, "07", 11)].join("\n"),
  udp6: [HEADER, row(`${hex(LOOPBACK_6)}:14E9`, "07", 12)].join("\n"),
  tcp: [HEADER, row(`${hex([192, 0, 2, 7])}:0035`, "0A", 13), row(`${hex([192, 0, 2, 7])}:0035`, "01", 14)].join("\n"),
  tcp6: [HEADER, row(`${hex(new Array<number>(16).fill(0))}:0035`, "0A", 15)].join("\n"),
};

const process = (wish: Partial<Surroundings> = {}): Surroundings => ({
  pid: 42,
  env: { LISTEN_FDS: "7", LISTEN_PID: "42" },
  linkOf: (fd) => `socket:[${fd + 8}]`,
  tableOf: (name) => TABLES[name],
  ...wish,
});

describe("a socket that was passed", () => {
  const cases = [
    { fd: 3, socket: { protocol: "udp", family: 4, address: "127.0.0.1", port: 53 } },
    { fd: 4, socket: { protocol: "udp", family: 6, address: "::1", port: 5_353 } },
    { fd: 5, socket: { protocol: "tcp", family: 4, address: "192.0.2.7", port: 53 } },
    { fd: 7, socket: { protocol: "tcp", family: 6, address: "::", port: 53 } },
  ];
  for (const { fd, socket } of cases) {
    it(`is known as ${socket.protocol} on ${socket.address} port ${socket.port}`, () => {
      assert.deepEqual(inheritedSocket(fd, process()), { fd, ...socket });
    });
  }
});

describe("a descriptor that no DNS can be answered on", () => {
  const cases: readonly { what: string; fd?: number; wish: Partial<Surroundings>; says: RegExp }[] = [
    { what: "where nobody passes any", wish: { env: {} }, says: /no LISTEN_FDS: .* \.socket unit/ },
    {
      what: "that is meant for another process",
      wish: { env: { LISTEN_FDS: "1", LISTEN_PID: "41" } },
      says: /meant for process 41 \(LISTEN_PID\), and this is 42/,
    },
    {
      what: "beyond those that were passed",
      fd: 5,
      wish: { env: { LISTEN_FDS: "2", LISTEN_PID: "42" } },
      says: /descriptors passed: 3 to 4 \(LISTEN_FDS\)/,
    },
    { what: "of none", wish: { env: { LISTEN_FDS: "0", LISTEN_PID: "42" } }, says: /descriptors passed: none/ },
    {
      what: "that is not open",
      wish: {
        linkOf: () => {
          throw new Error("ENOENT");
        },
      },
      says: /no open descriptor/,
    },
    { what: "that is a file", wish: { linkOf: () => "/etc/hosts" }, says: /\/etc\/hosts, which is no socket/ },
    { what: "that is a connection", wish: { linkOf: () => "socket:[14]" }, says: /a TCP socket that does not listen/ },
    {
      what: "that is a socket of another kind",
      wish: { linkOf: () => "socket:[99]" },
      says: /neither of UDP nor of TCP in this network namespace/,
    },
  ];
  for (const { what, fd = 3, wish, says } of cases) {
    it(`${what} is refused, and it is said why`, () => {
      assert.throws(() => inheritedSocket(fd, process(wish)), says);
    });
  }
});
