/** Whatever a request line says, a redirect leads to a configured region and repeats path and query. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isUnder, requestTarget } from "#shared/request-target.ts";

const ORIGIN = "https://frankfurt.r.llm.example.org";

/** What people try, between what they mean. */
const piece = fc.constantFrom(
  ...["/v1", "/", "//", "/..", "/.", "/%2e%2e", "/%2E.", "\\", "\\..\\", "@", ":", ":80", "?", "#", "&a=b", "%0d%0a"],
  ...["evil.example", "//evil.example", "http://", "https://evil.example", "user@", "chat", "\xe9", "%", ".", "*", ";"],
);
const hostile = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
const anything = fc.string({ unit: fc.nat({ max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 60 });
const url = fc.oneof(
  hostile,
  hostile.map((text) => `/v1${text}`),
  anything,
  anything.map((text) => `/v1/${text}`),
);
const host = fc.oneof(fc.constant("front.llm.example.org"), hostile, anything, fc.constant(undefined));

describe("any request target and any Host", () => {
  it("leads, if anywhere, to the region's own origin and repeats path and query octet by octet", () => {
    fc.assert(
      fc.property(url, host, (text, hostHeader) => {
        const target = requestTarget(text, hostHeader);
        if (target === null || !isUnder(target.path, "/v1")) return;
        const location = ORIGIN + target.pathAndQuery;
        assert.equal(new URL(location).origin, ORIGIN, "to the region");
        assert.ok(text.endsWith(target.pathAndQuery), "what the client sent");
        assert.ok(new URL(location).pathname.startsWith("/v1"), "within the pool's path, dots resolved");
        assert.match(location, /^[\x21-\x7e]+$/, "in one header line");
        assert.ok(target.pathAndQuery.startsWith(target.path));
      }),
      { numRuns: 5_000 },
    );
  });
  it("never throws", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.option(fc.string({ unit: "binary" }), { nil: undefined }),
        (a, b) => {
          const target = requestTarget(a, b);
          if (target !== null) isUnder(target.path, "/v1");
        },
      ),
    );
  });
});

describe("a well-formed target under a pool's path", () => {
  const segment = fc.stringMatching(/^[A-Za-z0-9_~-][A-Za-z0-9._~!$&'()*+,;=:@-]{0,8}$/);
  const path = fc.array(segment, { maxLength: 5 }).map((segments) => ["/v1", ...segments].join("/"));
  const query = fc.stringMatching(/^[A-Za-z0-9._~!$&'()*+,;=:@/?%-]{0,30}$/);
  it("is always taken", () => {
    fc.assert(
      fc.property(path, query, fc.boolean(), (thePath, theQuery, isAbsolute) => {
        const relative = theQuery === "" ? thePath : `${thePath}?${theQuery}`;
        const target = requestTarget(isAbsolute ? `http://front.llm.example.org${relative}` : relative, "a.example");
        assert.deepEqual(target, {
          host: isAbsolute ? "front.llm.example.org" : "a.example",
          pathAndQuery: relative,
          path: thePath,
          query: theQuery,
        });
        assert.equal(isUnder(thePath, "/v1"), true);
      }),
    );
  });
});
