/** Whatever octets stand in a request line and its Host: a redirect leads to a configured region, or there is none. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { toHttpAnswer } from "#gtm/wire/http/redirect.ts";
import { steeredReply } from "#gtm/wire/http/reply.ts";
import { isUnder, requestTarget } from "#shared/request-target.ts";
import { aPool, aRegion, decideIn } from "#test/support/builders.ts";
import { type RunningFrontDoor, startFrontDoor, ZONE } from "#test/support/front-door.ts";
import { rawConnect } from "#test/support/http-by-hand.ts";
import { answersUntilEnd, type RawAnswer } from "#test/support/raw-http.ts";

const REGION_URLS = ["https://frankfurt.r.llm.example.org", "https://virginia.r.llm.example.org"] as const;
const runs = Number(process.env["PROPERTY_RUNS"] ?? 250);

const octet = fc.nat({ max: 255 }).map((code) => String.fromCharCode(code));
const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
const trick = fc.constantFrom(
  ...[
    "/v1",
    "/v1/",
    "/",
    "//",
    "\\",
    "..",
    "/../",
    "%2e%2e",
    "%2f",
    "%5c",
    "@",
    ":",
    ":443",
    "?",
    "#",
    ";",
    "%00",
    "*",
  ],
  ...["http://", "https://", "HTTP://", "//evil.example", "evil.example", "user:pass@", "[::1]", `front.${ZONE}`],
  ...[
    "\r\n",
    "\n",
    "\r",
    "\t",
    " ",
    "\0",
    "%0d%0aLocation:",
    "\r\nLocation: http://evil.example/",
    " HTTP/1.1\r\nX: y",
  ],
);
const pieces = (...of: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.array(fc.oneof(...of), { maxLength: 10 }).map((some) => some.join(""));
const target = fc
  .tuple(fc.constantFrom("", "/v1", "/v1/", `http://front.${ZONE}/v1`, "//"), pieces(trick, trick, visible, octet))
  .map((parts) => parts.join(""));
/** Half of the targets have nothing that ends a request line, so that many get through. */
const calm = fc
  .tuple(fc.constantFrom("/v1/", "/v1?", `https://chat.front.${ZONE}/v1/`), pieces(trick, visible))
  .map((parts) => parts.join("").replaceAll(/[^\x21-\x7e]/g, ""));
const host = fc.oneof({ weight: 3, arbitrary: fc.constant(`front.${ZONE}`) }, pieces(trick, visible, octet));
const method = fc.constantFrom("GET", "POST", "PUT", "DELETE", "OPTIONS");

/** Path and query of what a parser takes for the target: what stands between the line's first two spaces. */
const sentPathOf = (line: string): string => {
  const sent = line.split(/[ \r\n]/, 1)[0] ?? "";
  return sent.replace(/^https?:\/\/[^/?#]*/i, "");
};

const assertHarmless = ({ status, headers }: RawAnswer, sent: string): void => {
  const location = headers.get("location");
  assert.equal(location !== undefined, status === 307, `${status}`);
  if (location === undefined) return;
  const region = REGION_URLS.find((url) => location.startsWith(`${url}/`));
  assert.ok(region !== undefined, location);
  assert.equal(location.slice(region.length), sent, "path and query octet for octet");
  assertLeadsBelow(region, location);
};

/** As clients resolve it. */
const assertLeadsBelow = (region: string, location: string): void => {
  const url = new URL(location);
  assert.deepEqual([url.origin, url.username, url.password], [region, "", ""]);
  assert.match(url.pathname, /^\/v1(?:\/|$)/);
};

describe("any octets as a request target and as a Host, over a socket", () => {
  for (const [what, wish] of [
    ["any name is answered", {}],
    ["only our own names are", { defaultPool: null }],
  ] as const) {
    describe(`where ${what}`, () => {
      let front: RunningFrontDoor;
      before(async () => {
        front = await startFrontDoor({ ...wish, limits: { lingerMs: 5 } });
      });
      after(() => front.stop());

      it("end in redirects to a configured region with the same path and query, or in none", async () => {
        let redirects = 0;
        const property = fc.asyncProperty(method, fc.oneof(target, calm), host, async (verb, line, name) => {
          await using client = await rawConnect(front.port);
          client.send(`${verb} ${line} HTTP/1.1\r\nHost: ${name}\r\nX-GTM-Model: llama\r\n\r\n`);
          client.finish();
          const [answer] = await answersUntilEnd(client);
          if (answer === undefined) return;
          if (answer.status === 307) redirects += 1;
          assertHarmless(answer, sentPathOf(line));
        });
        await fc.assert(property, { numRuns: runs });
        assert.ok(redirects > runs / 20, `${redirects} of ${runs} were redirects: the rest says little`);
        assert.deepEqual(
          front.lines.filter(({ event }) => event === "http.bug"),
          [],
        );
      });
    });
  }
});

describe("any target and any decision, without a socket", () => {
  const regions = [aRegion("frankfurt"), aRegion("virginia")];
  const decision = fc
    .record({
      admin: fc.constantFrom("active", "down", "drain-all"),
      from: fc.constantFrom("frankfurt", "virginia"),
      jurisdictions: fc.constantFrom(null, ["us"]),
      order: fc.shuffledSubarray([...aPool(regions).regions]),
    })
    .map(({ admin, from, jurisdictions, order }) =>
      decideIn({
        regions: regions.map((region) => ({ ...region, admin })),
        from,
        pool: { jurisdictions, lastResort: { kind: "regions", order } },
      }),
    );

  it("make a Location of a region's URL and what was sent, or an answer without one", () => {
    const urls = new Map(regions.map(({ id, endpoint }) => [id, endpoint.url]));
    fc.assert(
      fc.property(decision, fc.oneof(target, calm), host, (decided, line, name) => {
        const read = requestTarget(line, name);
        if (read === null || !isUnder(read.path, "/v1")) return;
        const answer = toHttpAnswer(decided, (id) => urls.get(id) ?? assert.fail(id));
        const { pathAndQuery } = read;
        const reply = steeredReply({
          answer,
          decisionId: decided.id,
          pathAndQuery,
          form: "openai",
          tookMs: 1,
          pin: null,
        });
        const { Location: location } = reply.headers;
        assert.equal(location !== undefined, reply.status === 307);
        if (location === undefined || answer.status !== 307) return;
        const region = urls.get(answer.region) ?? assert.fail(answer.region);
        assert.equal(location, region + sentPathOf(line));
        assertLeadsBelow(region, location);
      }),
      { numRuns: 2_000 },
    );
  });
});
