/** No string makes the opening of tickets throw, and none but ours is opened. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { ASKED, openerOf, SEALED_AT_MS, sealedTicket, ticketClaims } from "#test/support/tickets.ts";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_..=%\u0000é";

/** A sequence that looks like chance and is the same every time (Park and Miller's). */
const dice = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state;
  };
};

describe("opening what is no ticket", () => {
  it("refuses a million strings of garbage and does not throw", async () => {
    const opener = openerOf();
    const roll = dice(20_261_130);
    const mess = Array.from({ length: 65_536 }, () => LETTERS[roll() % LETTERS.length]).join("");
    for (let batch = 0; batch < 1_000; batch++) {
      const texts = Array.from({ length: 1_000 }, () => {
        const from = roll() % 65_000;
        return mess.slice(from, from + (roll() % 500));
      });
      const found = await Promise.all(texts.map((text) => opener.open(text, ASKED, SEALED_AT_MS)));
      assert.ok(found.every((one) => one.kind === "refused"));
    }
  });
  it("refuses whatever has a ticket's form", async () => {
    const opener = openerOf();
    const part = (min: number, max: number) =>
      fc.uint8Array({ minLength: min, maxLength: max }).map((octets) => Buffer.from(octets).toString("base64url"));
    const header = fc.oneof(
      part(6, 40),
      fc
        .record({
          alg: fc.constantFrom("dir", "A256KW", "none", "RSA-OAEP"),
          enc: fc.constantFrom("A256GCM", "A128CBC-HS256", ""),
          kid: fc.constantFrom<unknown>("frankfurt.7", "paris.7", "__proto__", 7, null),
          zip: fc.constantFrom("DEF", undefined),
          crit: fc.constantFrom<unknown>(undefined, ["exp"], []),
        })
        .map((found) => Buffer.from(JSON.stringify(found)).toString("base64url")),
    );
    await fc.assert(
      fc.asyncProperty(header, part(12, 12), part(6, 200), part(16, 16), async (head, vector, text, tag) => {
        const opened = await opener.open(`${head}..${vector}.${text}.${tag}`, ASKED, SEALED_AT_MS);
        assert.equal(opened.kind, "refused");
      }),
      { numRuns: 500 },
    );
  });
  it("gives back every claim, whatever the headers hold", async () => {
    const opener = openerOf();
    const headers = fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.string({ unit: "binary" })), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(headers, async (found) => {
        const opened = await opener.open(await sealedTicket({ headers: found }), ASKED, SEALED_AT_MS);
        assert.deepEqual(opened.kind === "opened" && opened.claims, ticketClaims({ headers: found }));
      }),
      { numRuns: 200 },
    );
  });
});
