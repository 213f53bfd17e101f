/** The opening of a chat is the same however its JSON is written and cut, in every later turn; and bears anything. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { fingerprintOf } from "#test/support/fingerprint.ts";

const runs = Number(process.env["PROPERTY_RUNS"] ?? 250);

/** Letters of one to four octets, quotes, escapes; sometimes longer than what is looked at as a whole. */
const word = fc.string({ unit: "grapheme", maxLength: 12 });
const odd = fc.constantFrom('"', "\\", "\\\\", "\n", "é", "🦙", "\u0000", "\ud800", "/", "</s>", "a\u2028b");
const text = fc
  .tuple(fc.array(fc.oneof(word, odd), { minLength: 1, maxLength: 8 }), fc.constantFrom(1, 1, 1, 700, 9_000))
  .map(([parts, times]) => `x${parts.join("").repeat(times)}y`.slice(0, 90_000).toWellFormed());
const message = (role: fc.Arbitrary<string>) => fc.record({ role, content: text });
const opening = fc.tuple(
  fc.array(message(fc.constantFrom("system", "developer")), { maxLength: 2 }),
  message(fc.constant("user")),
);
const later = fc.array(message(fc.constantFrom("user", "assistant", "tool")), { maxLength: 3 });
const places = fc.array(fc.nat(), { maxLength: 12 });

/** Every so many letters of each string written as \uXXXX. */
const spelt = (value: unknown, every: number): string =>
  JSON.stringify(value, null, every % 3).replaceAll(/"(?:[^"\\]|\\.)*"/g, (quoted) => {
    const letters = (JSON.parse(quoted) as string).split("");
    const spell = (letter: string, at: number): string =>
      at % every === 0
        ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`
        : JSON.stringify(letter).slice(1, -1);
    // Halves of a letter are spelt together, or neither.
    return `"${letters.map((letter, at) => (/[\ud800-\udfff]/.test(letter) ? spell(letter, 0) : spell(letter, at))).join("")}"`;
  });

describe("a chat's opening", () => {
  it("is the same in every way to write and to cut it", () => {
    fc.assert(
      fc.property(opening, later, fc.integer({ min: 1, max: 7 }), places, ([system, user], rest, every, cuts) => {
        const first = fingerprintOf("messages", JSON.stringify({ messages: [...system, user] }));
        assert.notEqual(first, null);
        const again = { stream: true, messages: [...system, user, ...rest], model: "m" };
        assert.equal(fingerprintOf("messages", spelt(again, every), cuts), first);
      }),
      { numRuns: runs },
    );
  });
  it("is another one when the first user says something else, or the system does", () => {
    fc.assert(
      fc.property(opening, text, ([system, user], other) => {
        fc.pre(other !== user.content);
        const of = (messages: unknown) => fingerprintOf("messages", JSON.stringify({ messages }));
        assert.notEqual(of([...system, { ...user, content: other }]), of([...system, user]));
        assert.notEqual(of([{ role: "system", content: other }, ...system, user]), of([...system, user]));
      }),
      { numRuns: runs },
    );
  });
});

describe("any octets", () => {
  const token = fc.constantFrom(
    ...['{"messages":[', '{"role":"user",', '"content":"', '"', "\\", "\\u", "\\ud83d", "{", "}", "[", "]", ",", ":"],
    ...['"content":[{"text":"x"', '"prompt":"', '"system":', "\nAssistant:", "é", "0"],
  );
  it("never throw, and are the same in one chunk and in many", () => {
    fc.assert(
      fc.property(fc.array(token, { maxLength: 60 }), places, (tokens, cuts) => {
        for (const shape of ["messages", "responses", "completions"] as const) {
          assert.equal(fingerprintOf(shape, tokens.join(""), cuts), fingerprintOf(shape, tokens.join("")));
        }
      }),
      { numRuns: runs },
    );
  });
});
