/** Tickets: opened once, where and when they were meant for, and by nobody else. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compactDecrypt } from "jose";
import { createTicketOpener, createTicketSealer } from "#shared/ticket.ts";
import { regionTicketKeysIn, regionTicketKeysText, ticketKeyOf, ticketRingOf } from "#shared/ticket-keys.ts";
import { createTicketMemory } from "#shared/ticket-memory.ts";
import { ticketRefusalText } from "#shared/ticket-refusal.ts";
import { keyOf, ringKey } from "#test/support/key-folder.ts";
import {
  ASKED,
  FRANKFURT,
  HOST,
  openerOf,
  PARIS,
  SEALED_AT_MS,
  SECRET,
  sealedTicket,
  TICKET_RING,
  ticketClaims,
} from "#test/support/tickets.ts";

const S = 1_000;

describe("a ticket for Frankfurt", () => {
  it("is opened there: every claim as it was sealed, and when it ends", async () => {
    const opened = await openerOf().open(await sealedTicket(), ASKED, SEALED_AT_MS);
    assert.deepEqual(opened, { kind: "opened", claims: ticketClaims(), expiresAtMs: SEALED_AT_MS + 15 * S });
  });
  it("shows nothing of what is in it, and needs no escape in a query", async () => {
    const text = await sealedTicket();
    assert.match(text, /^[\w.-]+$/);
    for (const part of text.split(".")) {
      assert.doesNotMatch(Buffer.from(part, "base64url").toString("latin1"), /sk-a-secret|chat|0123456789abc/);
    }
  });
  it("is a JWE that jose reads: dir, A256GCM, a key named by region and id", async () => {
    const { plaintext, protectedHeader } = await compactDecrypt(await sealedTicket(), ticketKeyOf(keyOf(7), FRANKFURT));
    assert.deepEqual(protectedHeader, { alg: "dir", enc: "A256GCM", kid: "frankfurt.7" });
    assert.match(Buffer.from(plaintext).toString(), /sk-a-secret/);
  });
  it("carries what is not ASCII", async () => {
    const claims = { headers: [["x-api-key", "schlüssel-\u0000-€"]] };
    const opened = await openerOf().open(await sealedTicket(claims), ASKED, SEALED_AT_MS);
    assert.deepEqual(opened.kind === "opened" && opened.claims.headers, claims.headers);
  });
  for (const host of [HOST.toUpperCase(), `${HOST}:443`, `${HOST}.`, `${HOST}.:443`]) {
    it(`is opened where the client writes the host ${host}`, async () => {
      assert.equal((await openerOf().open(await sealedTicket(), { ...ASKED, host }, SEALED_AT_MS)).kind, "opened");
    });
  }
});

describe("a ticket is refused", () => {
  const elsewhere: readonly (readonly [string, object])[] = [
    ["host", { host: "paris.r.llm.example.org" }],
    ["port", { host: `${HOST}:8443` }],
    ["method", { method: "GET" }],
    ["method in small letters", { method: "post" }],
    ["path", { path: "/v1/messages" }],
    ["query", { path: "/v1/chat/completions?trace=2" }],
    ["no query", { path: "/v1/chat/completions" }],
  ];
  for (const [what, change] of elsewhere) {
    it(`at another target: ${what}`, async () => {
      const opened = await openerOf().open(await sealedTicket(), { ...ASKED, ...change }, SEALED_AT_MS);
      assert.deepEqual(opened, { kind: "refused", reason: "other-target" });
    });
  }
  it("the second time, and is not spent by a refusal", async () => {
    const opener = openerOf();
    const text = await sealedTicket();
    const reasons: string[] = [];
    for (const asked of [{ ...ASKED, path: "/v1/x" }, ASKED, ASKED]) {
      const opened = await opener.open(text, asked, SEALED_AT_MS);
      reasons.push(opened.kind === "opened" ? "opened" : opened.reason);
    }
    assert.deepEqual(reasons, ["other-target", "opened", "replayed"]);
  });
  it("by another region's key, by name", async () => {
    const opened = await openerOf(PARIS).open(await sealedTicket(), ASKED, SEALED_AT_MS);
    assert.deepEqual(opened, { kind: "refused", reason: "unknown-key" });
  });
  it("also where the other region's key goes by this one's name", async () => {
    const keys = new Map([["frankfurt.7", ticketKeyOf(keyOf(7), PARIS)]]);
    const opened = await createTicketOpener({ keys, region: FRANKFURT }).open(
      await sealedTicket(),
      ASKED,
      SEALED_AT_MS,
    );
    assert.deepEqual(opened, { kind: "refused", reason: "malformed" });
  });
  it("wherever it is cut", async () => {
    const opener = openerOf();
    const text = await sealedTicket();
    for (let length = 0; length < text.length; length++) {
      const opened = await opener.open(text.slice(0, length), ASKED, SEALED_AT_MS);
      assert.equal(opened.kind, "refused", `${length} characters`);
    }
  });
  it("with any one bit flipped", async () => {
    const opener = openerOf();
    const text = Buffer.from(await sealedTicket());
    for (let at = 0; at < text.length; at++) {
      const changed = Buffer.from(text);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 7));
      const opened = await opener.open(changed.toString("latin1"), ASKED, SEALED_AT_MS);
      assert.equal(opened.kind, "refused", `at ${at}`);
    }
    assert.equal((await opener.open(text.toString(), ASKED, SEALED_AT_MS)).kind, "opened");
  });
});

describe("the gateway's clock", () => {
  const works = [-20, -15, -5, 0, 5, 15, 20] as const;
  for (const off of works) {
    it(`may be off by ${off} s, and the ticket a second on its way`, async () => {
      const now = SEALED_AT_MS + off * S + 999;
      assert.equal((await openerOf().open(await sealedTicket(), ASKED, now)).kind, "opened");
    });
  }
  it("may be ahead by 20 s wherever in its second the ticket was sealed", async () => {
    for (const ms of [1, 500, 999]) {
      const at = SEALED_AT_MS + ms;
      assert.equal((await openerOf().open(await sealedTicket({}, at), ASKED, at + 20 * S + 999)).kind, "opened");
    }
  });
  it("that is ahead by a minute is named, and by how much", async () => {
    const opened = await openerOf().open(await sealedTicket(), ASKED, SEALED_AT_MS + 60 * S);
    assert.deepEqual(opened, { kind: "refused", reason: "expired", byMs: 45 * S });
    if (opened.kind !== "refused") return;
    assert.match(ticketRefusalText(opened), /ended 45 s ago .* this clock is ahead of the GTM's by 60 s/);
  });
  it("that is behind by a minute is named, and by how much", async () => {
    const opened = await openerOf().open(await sealedTicket(), ASKED, SEALED_AT_MS - 60 * S);
    assert.deepEqual(opened, { kind: "refused", reason: "not-yet", byMs: 60 * S });
    if (opened.kind !== "refused") return;
    assert.match(ticketRefusalText(opened), /60 s from now .* clock is behind the GTM's/);
  });
  it("decides nothing of a ticket that is not genuine", async () => {
    const opened = await openerOf(PARIS).open(await sealedTicket(), ASKED, SEALED_AT_MS + 3_600 * S);
    assert.deepEqual(opened, { kind: "refused", reason: "unknown-key" });
  });
});

describe("what a refusal says", () => {
  for (const reason of ["malformed", "unknown-key", "other-target", "replayed"] as const) {
    it(`is a sentence for ${reason}, and holds nothing of the ticket`, () => {
      const text = ticketRefusalText({ kind: "refused", reason });
      assert.match(text, /^The ticket .*\.$/);
      assert.ok(!text.includes(SECRET));
    });
  }
});

describe("the memory of used tickets", () => {
  it("forgets what has ended, and then refuses it for its age", async () => {
    const memory = createTicketMemory();
    const opener = openerOf(FRANKFURT, memory);
    for (let second = 0; second < 100; second++) {
      const at = SEALED_AT_MS + second * S;
      assert.equal((await opener.open(await sealedTicket({}, at), ASKED, at)).kind, "opened");
    }
    assert.ok(memory.size() <= 23, `${memory.size()} remembered`);
    assert.equal(memory.forgotten(), 0);
  });
  it("is bounded: beyond it the oldest is forgotten, and counted", () => {
    const memory = createTicketMemory(3);
    for (const jti of ["a", "b", "c", "d"]) assert.ok(memory.remember(jti, SEALED_AT_MS, SEALED_AT_MS));
    assert.deepEqual([memory.size(), memory.forgotten()], [3, 1]);
    assert.equal(memory.remember("d", SEALED_AT_MS, SEALED_AT_MS), false);
    assert.equal(memory.remember("a", SEALED_AT_MS, SEALED_AT_MS), true);
  });
  it("outlives an opener whose keys were read again", async () => {
    const memory = createTicketMemory();
    const text = await sealedTicket();
    assert.equal((await openerOf(FRANKFURT, memory).open(text, ASKED, SEALED_AT_MS)).kind, "opened");
    const again = await openerOf(FRANKFURT, memory).open(text, ASKED, SEALED_AT_MS);
    assert.deepEqual(again, { kind: "refused", reason: "replayed" });
  });
});

describe("a change of keys", () => {
  it("leaves no moment at which a gateway cannot open: the next is accepted first, the old one last", async () => {
    const steps = [[ringKey(7)], [ringKey(8, "next"), ringKey(7)], [ringKey(8), ringKey(7, "old")], [ringKey(8)]];
    for (const [at, ring] of steps.entries()) {
      const text = await createTicketSealer(ring).seal(FRANKFURT, ticketClaims(), SEALED_AT_MS);
      // The gateways get each file before the GTMs do, so they are at this step or, until they have it, a step behind.
      for (const seen of [ring, ...(at === 1 ? [steps[0] ?? []] : [])]) {
        const file = regionTicketKeysText(ticketRingOf(seen, FRANKFURT), FRANKFURT);
        const keys = regionTicketKeysIn(file, "ticket.keys", FRANKFURT);
        const opened = await createTicketOpener({ keys, region: FRANKFURT }).open(text, ASKED, SEALED_AT_MS);
        assert.equal(opened.kind, "opened", `step ${at}`);
      }
    }
  });
});

describe("the file of one region's keys", () => {
  const text = regionTicketKeysText(ticketRingOf(TICKET_RING, FRANKFURT), FRANKFURT);
  it("holds neither the GTMs' key nor another region's", () => {
    const secrets = [keyOf(7), ticketKeyOf(keyOf(7), PARIS)].map((key) => Buffer.from(key).toString("base64"));
    for (const secret of secrets) assert.ok(!text.includes(secret));
    assert.match(text, /^frankfurt 7 current /m);
  });
  it("is refused by a gateway of another region, which is told whose it is", () => {
    assert.throws(() => regionTicketKeysIn(text, "t.keys", PARIS), {
      code: "GTM_CONFIG_INVALID",
      message: /t\.keys: expected keys of paris, found those of frankfurt; gtm keys region paris makes them/,
    });
  });
  it("is refused where it is empty, or the GTMs' own file", () => {
    assert.throws(() => regionTicketKeysIn("# nothing\n", "t.keys", PARIS), { message: /found none/ });
    assert.throws(
      () => regionTicketKeysIn("7 current 2026-11-30T00:00:00Z AAAAAAAAAAAAAAAAAAAAAAAA", "t.keys", PARIS),
      {
        code: "GTM_CONFIG_INVALID",
      },
    );
  });
});
