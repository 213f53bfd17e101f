/** The checklist of what an authoritative server owes its zone, row by row, on raw sockets; P-numbers as in the design. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { askTcp, askUdp, queryOctets } from "#test/support/dns-client.ts";
import { type RunningDns, startDns } from "#test/support/dns-zone.ts";
import { ALIASES } from "./dns/aliases.ts";
import { ALIKE } from "./dns/alike.ts";
import { BASICS } from "./dns/basics.ts";
import { CODES } from "./dns/codes.ts";
import { CONNECTIONS } from "./dns/connections.ts";
import { COOKIE_SEQUENCES, COOKIES } from "./dns/cookies.ts";
import { DELEGATION } from "./dns/delegation.ts";
import { EDNS_ROWS } from "./dns/edns.ts";
import { HOSTILE } from "./dns/hostile.ts";
import { APEX, NEGATIVES, STEERED } from "./dns/names.ts";
import { EXTENDED_ERRORS, KEEPALIVES, NSIDS, STALE_ANSWERS } from "./dns/options.ts";
import { RATE_LIMITS } from "./dns/rate-limits.ts";
import { plainQuestions, readBy, readByPacket } from "./dns/readers.ts";
import { OTHER_RECORDS } from "./dns/records.ts";
import type { Over, Row, Sequence, ServerKind } from "./dns/row.ts";
import { SUBNETS } from "./dns/subnets.ts";
import { WILDCARDS } from "./dns/wildcards.ts";
import { WITHDRAWN } from "./dns/withdrawn.ts";

const TABLES: readonly (readonly [string, readonly Row[]])[] = [
  ["a query", BASICS],
  ["a negative answer", NEGATIVES],
  ["a name whose regions are all unavailable", WITHDRAWN],
  ["the apex and the delegation", APEX],
  ["a name of the zone", STEERED],
  ["a name that is given to other servers", DELEGATION],
  ["an alias", ALIASES],
  ["a wildcard", WILDCARDS],
  ["a record that the owner keeps", OTHER_RECORDS],
  ["types, classes and opcodes", CODES],
  ["EDNS", EDNS_ROWS],
  ["an extended error", EXTENDED_ERRORS],
  ["NSID", NSIDS],
  ["a cookie", COOKIES],
  ["keepalive", KEEPALIVES],
  ["a client subnet (RFC 7871)", SUBNETS],
];
const SEQUENCES: readonly (readonly [string, readonly Sequence[]])[] = [
  ["what gets no reply, and what is sent to end the process", HOSTILE],
  ["two servers of one zone", ALIKE],
  ["stale answers", STALE_ANSWERS],
  ["cookies in time", COOKIE_SEQUENCES],
  ["rate limits", RATE_LIMITS],
  ["connections over TCP", CONNECTIONS],
];
const ROWS = TABLES.flatMap(([, rows]) => rows);
const BOTH: readonly Over[] = ["udp", "tcp"];

describe("the zone's name server", () => {
  const servers = new Map<ServerKind, RunningDns>();
  before(async () => {
    servers.set("usual", await startDns());
    servers.set("named", await startDns({ nsid: "gtm-7" }));
    const withdrawn = await startDns();
    withdrawn.setRegions((region) => ({ ...region, admin: "down" }));
    servers.set("withdrawn", withdrawn);
  });
  after(async () => {
    for (const dns of servers.values()) await dns[Symbol.asyncDispose]();
  });
  const server = (kind: ServerKind): RunningDns => {
    const dns = servers.get(kind);
    assert.ok(dns !== undefined);
    return dns;
  };

  const check = async ({ query, over = BOTH, of = "usual", expect }: Row): Promise<void> => {
    const octets = queryOctets(query);
    for (const transport of over) {
      const reply = await (transport === "udp" ? askUdp : askTcp)(server(of), octets);
      assert.equal(reply.octets.readUInt16BE(0), octets.readUInt16BE(0), "the ID comes back");
      expect(reply, octets);
    }
  };
  for (const [title, rows] of TABLES) {
    describe(title, () => {
      for (const row of rows) it(`${row.row}: ${row.what}`, () => check(row));
    });
  }
  for (const [title, sequences] of SEQUENCES) {
    describe(title, () => {
      for (const { row, what, run } of sequences) it(`${row}: ${what}`, run);
    });
  }

  describe("read by others", () => {
    const questions = plainQuestions(ROWS);
    for (const reader of ["dig", "kdig"] as const) {
      it(`${reader} reads ${questions.length} replies as dns-packet does`, async () => {
        assert.deepEqual(
          await readBy(reader, server("usual"), questions),
          await readByPacket(server("usual"), questions),
        );
      });
    }
  });
});

describe("the checklist", () => {
  it("has a row for each of P1 to P75", () => {
    const named = [...ROWS, ...SEQUENCES.flatMap(([, sequences]) => sequences)].flatMap(({ row }) => row.split(", "));
    const all = Array.from({ length: 75 }, (_, i) => `P${i + 1}`);
    assert.deepEqual(
      all.filter((row) => !named.includes(row)),
      [],
    );
  });
});
