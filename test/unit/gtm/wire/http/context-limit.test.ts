import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { longestContext } from "#gtm/wire/http/context-limit.ts";
import { ModelId } from "#shared/ids.ts";
import { aPool, aRegion, aWorld, MODEL } from "#test/support/builders.ts";

const short = aRegion("frankfurt", { placement: { contextLimitTokens: 8_192 } });
const long = aRegion("virginia", { placement: { contextLimitTokens: 131_072 } });
const open = aRegion("paris", { placement: { contextLimitTokens: null } });
const without = aRegion("singapore", { placement: null });

describe("the longest context of a pool", () => {
  const pool = aPool([short, long]);
  it("is that of the region which takes most, whether the model is named or not", () => {
    assert.equal(longestContext(aWorld([short, long, without]), pool, MODEL), 131_072);
    assert.equal(longestContext(aWorld([long, short]), pool, null), 131_072);
  });
  it("does not count regions outside of the pool", () => {
    assert.equal(longestContext(aWorld([short, long]), aPool([short]), MODEL), 8_192);
  });
  it("is open where a region names no limit, and where no region has the model", () => {
    assert.equal(longestContext(aWorld([short, open]), aPool([short, open]), MODEL), null);
    assert.equal(longestContext(aWorld([without]), aPool([without]), MODEL), null);
    assert.equal(longestContext(aWorld([short]), pool, ModelId.parse("other")), null);
  });
});
