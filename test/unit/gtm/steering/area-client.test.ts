import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clientOfArea } from "#gtm/steering/area-client.ts";
import { aClient } from "#test/support/builders.ts";

describe("the client whom a cell is decided for", () => {
  it("is in the middle of the area, whoever of it asked first", () => {
    for (const location of [
      { latitude: 50.11, longitude: 8.68 },
      { latitude: 49.8, longitude: 8.26 },
    ]) {
      const { location: middle } = clientOfArea({ ...aClient("frankfurt"), source: "geo", location });
      assert.deepEqual(middle, { latitude: 50, longitude: 8.5 });
    }
  });
  it("is where the operator says, or nowhere", () => {
    const own = { ...aClient("frankfurt"), source: "static" as const };
    assert.equal(clientOfArea(own), own);
    const nowhere = { ...aClient("frankfurt"), source: "geo" as const, location: null };
    assert.equal(clientOfArea(nowhere), nowhere);
  });
});
