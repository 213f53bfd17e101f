import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, it } from "node:test";
import { OperationalError } from "#shared/errors.ts";
import { createLifecycle, type Part, runUntilSignal } from "#shared/lifecycle.ts";
import { createLogger, silentLogger } from "#shared/logger.ts";

/** Parts that write what happens to them into one list. */
const createJournal = () => {
  const journal: string[] = [];
  const part = (
    name: string,
    wish: { readonly start?: () => Promise<void>; readonly stop?: () => Promise<void> } = {},
  ): Part => ({
    name,
    start: async () => {
      await wish.start?.();
      journal.push(`${name} started`);
    },
    stop: async () => {
      await wish.stop?.();
      journal.push(`${name} stopped`);
    },
  });
  return { journal, part };
};
const failing = (message: string) => async (): Promise<void> => {
  throw new OperationalError("GTM_LISTEN_FAILED", message);
};
const options = { log: silentLogger, stopDeadlineMs: 10_000 };
const never = (): Promise<void> => new Promise(() => {});

/** A start that has begun when `begun` resolves and ends when the test says so. */
const createSlowStart = () => {
  const begun = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<void>();
  const start = (): Promise<void> => {
    begun.resolve();
    return finished.promise;
  };
  return { start, begun: begun.promise, finish: finished.resolve };
};

describe("three parts", () => {
  it("start in order and stop in reverse, each awaited", async () => {
    const { journal, part } = createJournal();
    const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const lifecycle = createLifecycle(
      [part("a", { start: later, stop: later }), part("b"), part("c", { stop: later })],
      options,
    );
    await lifecycle.start();
    assert.deepEqual(journal, ["a started", "b started", "c started"]);
    await lifecycle.stop();
    assert.deepEqual(journal.slice(3), ["c stopped", "b stopped", "a stopped"]);
  });
  it("stop once, however often they are asked to", async () => {
    const { journal, part } = createJournal();
    const lifecycle = createLifecycle([part("a")], options);
    await lifecycle.start();
    await Promise.all([lifecycle.stop(), lifecycle.stop()]);
    await lifecycle.stop();
    assert.deepEqual(journal, ["a started", "a stopped"]);
  });
  it("stop those that started when one does not, and throw what it threw", async () => {
    const { journal, part } = createJournal();
    const parts = [part("a"), part("b"), part("c", { start: failing("port 53 is taken") }), part("d")];
    const lifecycle = createLifecycle(parts, options);
    await assert.rejects(() => lifecycle.start(), { code: "GTM_LISTEN_FAILED", message: "port 53 is taken" });
    assert.deepEqual(journal, ["a started", "b started", "b stopped", "a stopped"]);
  });
  it("tell why the start failed even when the stop fails too", async () => {
    const { part } = createJournal();
    const parts = [part("a", { stop: failing("cannot stop") }), part("b", { start: failing("cannot start") })];
    await assert.rejects(() => createLifecycle(parts, options).start(), { message: "cannot start" });
  });
  it("all stop though one fails to, which is thrown afterwards", async () => {
    const { journal, part } = createJournal();
    const lifecycle = createLifecycle([part("a"), part("b", { stop: failing("cannot stop b") }), part("c")], options);
    await lifecycle.start();
    await assert.rejects(() => lifecycle.stop(), { message: "cannot stop b" });
    assert.deepEqual(journal.slice(-2), ["c stopped", "a stopped"]);
  });
});

describe("a stop that does not end", () => {
  it("is given up at the deadline, and the part that did not end is named", async () => {
    const { part } = createJournal();
    const lifecycle = createLifecycle([part("dns", { stop: never }), part("http")], { ...options, stopDeadlineMs: 20 });
    await lifecycle.start();
    await assert.rejects(() => lifecycle.stop(), { code: "GTM_SHUTDOWN_TIMEOUT", message: /20 ms.*waiting for dns$/ });
  });
});

describe("a stop during the start", () => {
  it("lets the part that is starting finish, stops it, and starts no other", async () => {
    const { journal, part } = createJournal();
    const slow = createSlowStart();
    const lifecycle = createLifecycle([part("a"), part("b", { start: slow.start }), part("c")], options);
    const starting = lifecycle.start();
    await slow.begun;
    const stopping = lifecycle.stop();
    slow.finish();
    await Promise.all([starting, stopping]);
    assert.deepEqual(journal, ["a started", "b started", "b stopped", "a stopped"]);
  });
});

/** A process's edge with signals of its own, and what it logged. */
const createEdge = (parts: readonly Part[], stopDeadlineMs = 10_000) => {
  const signals = new EventEmitter();
  const events: Record<string, unknown>[] = [];
  const log = createLogger({ level: "info", destination: { write: (line) => events.push(JSON.parse(line)) } });
  const started = Promise.withResolvers<void>();
  const last: Part = { name: "last", start: async () => started.resolve(), stop: async () => {} };
  const code = runUntilSignal(createLifecycle([...parts, last], { log, stopDeadlineMs }), { log, signals });
  return {
    signals,
    events,
    code,
    started: started.promise,
    named: (event: string) => events.find((e) => e["event"] === event),
  };
};

describe("a process", () => {
  for (const signal of ["SIGTERM", "SIGINT"]) {
    it(`runs until ${signal}, stops its parts and exits with 0`, async () => {
      const { journal, part } = createJournal();
      const { signals, code, started, events } = createEdge([part("a")]);
      await started;
      signals.emit(signal, signal);
      assert.equal(await code, 0);
      assert.deepEqual(journal, ["a started", "a stopped"]);
      assert.equal(events.at(-1)?.["event"], "process.stopped");
    });
  }
  it("leaves no listener behind", async () => {
    const { signals, code, started } = createEdge([]);
    await started;
    assert.ok(signals.eventNames().length >= 4);
    signals.emit("SIGTERM", "SIGTERM");
    await code;
    assert.deepEqual(signals.eventNames(), []);
  });
  it("exits at once with 143 on a second SIGTERM, though a part does not stop", async () => {
    const { part } = createJournal();
    const { signals, code, started } = createEdge([part("a", { stop: never })]);
    await started;
    signals.emit("SIGTERM", "SIGTERM");
    signals.emit("SIGTERM", "SIGTERM");
    assert.equal(await code, 143);
  });
  it("exits with 1 when it cannot start, and says with which code", async () => {
    const { part } = createJournal();
    const { code, named } = createEdge([part("a", { start: failing("port 53 is taken") })]);
    assert.equal(await code, 1);
    const { code: errorCode, message, level } = named("process.start-failed") ?? {};
    assert.deepEqual([errorCode, message, level], ["GTM_LISTEN_FAILED", "port 53 is taken", "error"]);
  });
  it("exits with 1 when a part is not done at the deadline", async () => {
    const { part } = createJournal();
    const { signals, code, started, named } = createEdge([part("a", { stop: never })], 20);
    await started;
    signals.emit("SIGTERM", "SIGTERM");
    assert.equal(await code, 1);
    assert.equal(named("process.stop-failed")?.["code"], "GTM_SHUTDOWN_TIMEOUT");
  });
  it("stops what has started when the signal comes during the start", async () => {
    const { journal, part } = createJournal();
    const slow = createSlowStart();
    const { signals, code } = createEdge([part("a"), part("b", { start: slow.start })]);
    await slow.begun;
    signals.emit("SIGTERM", "SIGTERM");
    slow.finish();
    assert.equal(await code, 0);
    assert.deepEqual(journal, ["a started", "b started", "b stopped", "a stopped"]);
  });
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    it(`exits with 1 and the stack on ${event}, which is a bug`, async () => {
      const { signals, code, started, named } = createEdge([]);
      await started;
      signals.emit(event, new TypeError("x is not a function"));
      assert.equal(await code, 1);
      assert.match(String(named("process.bug")?.["stack"]), /TypeError: x is not a function\n\s+at /);
    });
  }
  it("tells of the first bug alone: where the log is what broke, telling would be the next one", async () => {
    const signals = new EventEmitter();
    let told = 0;
    const error = (): void => {
      told += 1;
      if (told < 10) signals.emit("uncaughtException", new Error("the log cannot be written"));
    };
    const lifecycle = createLifecycle([], { log: silentLogger, stopDeadlineMs: 1_000 });
    const code = runUntilSignal(lifecycle, { log: { ...silentLogger, error }, signals });
    signals.emit("uncaughtException", new Error("anything"));
    assert.equal(await code, 1);
    assert.equal(told, 1);
  });
  it("tells a bug in a part's start from a fault of the surroundings", async () => {
    const { part } = createJournal();
    const bug = async (): Promise<void> => {
      throw new Error("impossible");
    };
    const { code, named } = createEdge([part("a", { start: bug })]);
    assert.equal(await code, 1);
    assert.match(String(named("process.bug")?.["stack"]), /Error: impossible/);
    assert.equal(named("process.start-failed"), undefined);
  });
});
