import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseStoreUrl, shownStoreUrl } from "#shared/store-url.ts";

const nobody = { username: null, password: null };

describe("a store's URL", () => {
  const meanings = [
    ["memory:", { kind: "memory" }],
    [
      "redis://redis.example.org",
      { ...nobody, isTls: false, kind: "single", endpoint: { host: "redis.example.org", port: 6379 }, db: 0 },
    ],
    [
      "rediss://gtm:s%40crets@[2001:db8::1]:6380/3",
      {
        ...{ isTls: true, kind: "single", username: "gtm", password: "s@crets" },
        ...{ endpoint: { host: "2001:db8::1", port: 6380 }, db: 3 },
      },
    ],
    [
      "redis://:only-a-password@h",
      {
        ...{ isTls: false, kind: "single", username: null, password: "only-a-password" },
        ...{ endpoint: { host: "h", port: 6379 }, db: 0 },
      },
    ],
    [
      "redis+sentinel://s1,s2:26380/gtm/2",
      {
        ...{ ...nobody, isTls: false, kind: "sentinel", name: "gtm", db: 2 },
        sentinels: [
          { host: "s1", port: 26_379 },
          { host: "s2", port: 26_380 },
        ],
      },
    ],
    [
      "rediss+cluster://n1:7000,n2:7001",
      {
        ...{ ...nobody, isTls: true, kind: "cluster" },
        seeds: [
          { host: "n1", port: 7_000 },
          { host: "n2", port: 7_001 },
        ],
      },
    ],
  ] as const;
  for (const [url, meaning] of meanings) {
    it(`may be ${url}`, () => assert.deepEqual(parseStoreUrl(url), meaning));
  }

  const faulty = [
    ...["", "memory", "memory://", "http://h", "redis:", "redis://", "redis:///1", "redis://h:0", "redis://h:65536"],
    ...[
      "redis://h:x",
      "redis://h/x",
      "redis://h/65536",
      "redis://a,b",
      "redis://h/1/2",
      "redis://%zz@h",
      "redis://a b",
    ],
    ...["redis+sentinel://s", "redis+sentinel://s/", "redis+sentinel://s/na me", "redis+sentinel://s/name/x"],
    ...["redis+cluster://", "redis+cluster://n/1", "redis+cluster://n,", "redis+cluster://,n", "redis://h?x=1"],
    `redis+cluster://${"n,".repeat(40)}n`,
  ];
  for (const url of faulty) it(`is not "${url.slice(0, 40)}"`, () => assert.equal(parseStoreUrl(url), null));
});

describe("a store's URL in a log", () => {
  const shown = [
    ["redis://gtm:secret@h:1/2", "redis://gtm@h:1/2"],
    ["rediss+sentinel://:secret@a,b/name", "rediss+sentinel://@a,b/name"],
    ["redis://h", "redis://h"],
    ["memory:", "memory:"],
  ] as const;
  for (const [url, text] of shown) it(`is ${text}`, () => assert.equal(shownStoreUrl(url), text));
});
