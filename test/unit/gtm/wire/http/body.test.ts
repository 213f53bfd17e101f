import assert from "node:assert/strict";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { drainBody, hasBody } from "#gtm/wire/http/body.ts";

const limits = { bodyBytes: 10, bodyMs: 60_000 };
const incomingWith = (headers: Readonly<Record<string, string>>, body: string, isWhole = true): IncomingMessage => {
  const incoming = new IncomingMessage(new Socket());
  Object.assign(incoming.headers, headers);
  incoming.push(body);
  if (isWhole) incoming.push(null);
  incoming.complete = isWhole;
  return incoming;
};

describe("a request", () => {
  it("has a body if its headers say so", () => {
    assert.equal(hasBody({ headers: {} }), false);
    assert.equal(hasBody({ headers: { "content-length": "0" } }), false);
    assert.equal(hasBody({ headers: { "content-length": "1" } }), true);
    assert.equal(hasBody({ headers: { "transfer-encoding": "chunked" } }), true);
  });
});

describe("a body that came with its headers", () => {
  it("is shown and counted at once", () => {
    const seen: string[] = [];
    const end = drainBody(
      incomingWith({ "content-length": "4" }, "body"),
      limits,
      (chunk) => void seen.push(`${chunk}`),
    );
    assert.deepEqual([end, seen], [{ kind: "ended", bytes: 4 }, ["body"]]);
  });
  it("is too large beyond the limit, whatever it announced", () => {
    const chunked = { "transfer-encoding": "chunked" };
    assert.deepEqual(drainBody(incomingWith(chunked, "0123456789"), limits, null), { kind: "ended", bytes: 10 });
    assert.deepEqual(drainBody(incomingWith(chunked, "0123456789a"), limits, null), { kind: "too-large" });
    const announced = incomingWith({ "content-length": "11" }, "", false);
    assert.deepEqual(drainBody(announced, limits, null), { kind: "too-large" });
  });
  it("is lost, not empty, where its client is gone already", () => {
    const incoming = incomingWith({ "content-length": "4" }, "body");
    incoming.destroy();
    assert.deepEqual(drainBody(incoming, limits, null), { kind: "aborted" });
  });
});

describe("a body that is still coming", () => {
  it("ends when it ends", async () => {
    const incoming = incomingWith({ "content-length": "8" }, "half", false);
    const end = drainBody(incoming, limits, null);
    incoming.push("half");
    incoming.push(null);
    assert.deepEqual(await end, { kind: "ended", bytes: 8 });
  });
  it("is aborted when its client goes away", async () => {
    const incoming = incomingWith({ "content-length": "8" }, "half", false);
    const end = drainBody(incoming, limits, null);
    incoming.destroy(new Error("aborted"));
    assert.deepEqual(await end, { kind: "aborted" });
  });
});

describe("a body that is looked at slower than it comes", () => {
  it("is not read on meanwhile", async () => {
    const incoming = incomingWith({ "transfer-encoding": "chunked" }, "a", false);
    const { promise, resolve } = Promise.withResolvers<void>();
    const seen: string[] = [];
    const end = drainBody(incoming, limits, (chunk) => {
      seen.push(`${chunk}`);
      return seen.length === 1 ? promise : undefined;
    });
    await setImmediate();
    incoming.push("b");
    await setImmediate();
    assert.deepEqual([seen, incoming.isPaused()], [["a"], true]);
    resolve();
    incoming.push(null);
    assert.deepEqual([await end, seen], [{ kind: "ended", bytes: 2 }, ["a", "b"]]);
  });
});
