/** Garbage asked of the two calls, of the store's records and of DNS; and that what is presented and cleaned up adds up. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { decode } from "dns-packet";
import fc from "fast-check";
import { type AcmeEntry, packed, textsOf, unpacked, withEntry, withoutEntries } from "#gtm/datalayer/acme-values.ts";
import { AcmeRecord, MOST_ACME_VALUES } from "#shared/acme-record.ts";
import { acmeKey, acmeNameOf } from "#shared/keys.ts";
import { askTcp } from "#test/support/dns-client.ts";
import { startDns, ZONE } from "#test/support/dns-zone.ts";
import { runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());

const printable = fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 255 }).map((text) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  text.replace(/[\x00-\x1f\x7f]/g, "~"),
);
const entry = fc.record({
  value: fc.constantFrom("a", "b", "c", "d"),
  actor: fc.constantFrom("lego", "traefik", "certbot"),
  untilMs: fc.integer({ min: 1_001, max: 3_601_000 }),
});

describe("whatever is asked of /acme/present and /acme/cleanup", () => {
  it("is answered by a problem or done, and the API lives", async () => {
    const admin = stack.use(await runningAdmin());
    const field = fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), fc.jsonValue(), printable);
    const body = fc.oneof(
      fc.jsonValue(),
      fc.record({ fqdn: fc.oneof(field, fc.constant("_acme-challenge.chat.llm.test.")), value: field }),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("present", "cleanup"), body, async (path, sent) => {
        const answer = await fetch(`${admin.url}/acme/${path}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(sent),
        });
        const type = answer.headers.get("content-type") ?? "";
        await answer.text();
        assert.ok(answer.status === 200 || [400, 404, 409].includes(answer.status), `${answer.status}`);
        assert.match(type, answer.status === 200 ? /^application\/json/ : /^application\/problem\+json/);
      }),
      { numRuns: 150 },
    );
    assert.equal((await admin.ask("GET", "/acme-challenges")).status, 200);
  });
});

describe("any printable value", () => {
  it("comes out of DNS as it went in", async () => {
    let texts: readonly string[] = [];
    const dns = stack.use(await startDns({ challengeTexts: () => texts }));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(printable, { minLength: 1, maxLength: MOST_ACME_VALUES }), async (values) => {
        texts = values;
        const { octets } = await askTcp(dns, { name: `_acme-challenge.${ZONE.name}`, type: 16 });
        const found = (decode(octets).answers ?? []).map((one) => one.type === "TXT" && [one.data].flat().join("|"));
        assert.deepEqual(found, values);
      }),
      { numRuns: 60 },
    );
  });
});

describe("values of one name", () => {
  it("are never more than eight, and one's own are taken back without touching others'", () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 30 }), entry, (all, mine) => {
        const held = all.reduce<readonly AcmeEntry[]>((entries, one) => withEntry(entries, one) ?? entries, []);
        assert.ok(held.length <= MOST_ACME_VALUES);
        const rest = withoutEntries(held, { value: null, actor: mine.actor });
        assert.deepEqual(
          rest,
          held.filter(({ actor }) => actor !== mine.actor),
        );
        assert.equal(new Set(textsOf(held)).size, textsOf(held).length);
      }),
    );
  });
  it("survive the store: each ends when it did, however long the record lay there", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(entry, { maxLength: MOST_ACME_VALUES, selector: ({ value, actor }) => value + actor }),
        fc.nat(3_600_000),
        (entries, laterMs) => {
          const { text, ttlMs } = packed(entries, 3, 1_000);
          const record = AcmeRecord.parse(JSON.parse(text));
          // Another GTM, whose clock began elsewhere.
          const nowMs = 500_000_000;
          const found = ttlMs > laterMs ? unpacked(record, ttlMs - laterMs, nowMs) : [];
          const expected = entries
            .map((one) => ({ ...one, untilMs: one.untilMs - 1_000 - laterMs + nowMs }))
            .filter(({ untilMs }) => untilMs > nowMs);
          assert.deepEqual(found, expected);
        },
      ),
    );
  });
});

describe("a key", () => {
  it("says its name again, and other keys say none", () => {
    const name = fc.stringMatching(/^[a-z0-9_.-]{1,100}$/);
    fc.assert(fc.property(name, (one) => assert.equal(acmeNameOf(acmeKey(one)), one)));
    fc.assert(fc.property(fc.string(), (one) => assert.equal(acmeNameOf(one), null)));
  });
});
