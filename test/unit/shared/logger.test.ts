import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLogger, type LogLevel, silentLogger } from "#shared/logger.ts";

/** A logger and the lines that it wrote, parsed. */
const listen = (level: LogLevel = "debug") => {
  const lines: string[] = [];
  const log = createLogger({ level, destination: { write: (line) => lines.push(line) } });
  return { log, lines, entries: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
};

describe("a log line", () => {
  it("is one JSON object with level, time, event and the fields, in this order", () => {
    const { log, lines, entries } = listen();
    log.warn("report.stale", { region: "eu-central", reportAgeMs: 12_000, isPartial: false, agent: null });
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? "", /^\{"level":"warn","time":\d+,"event":"report.stale","region":.*\}\n$/);
    const { time, ...rest } = entries()[0] ?? {};
    assert.equal(typeof time, "number");
    assert.deepEqual(rest, {
      level: "warn",
      event: "report.stale",
      region: "eu-central",
      reportAgeMs: 12_000,
      isPartial: false,
      agent: null,
    });
  });
  it("stays one line when a field holds line feeds", () => {
    const { log, lines } = listen();
    log.info("config.loaded", { text: 'a\nb\r\n"c"' });
    assert.equal(lines[0]?.trimEnd().includes("\n"), false);
  });
  it("keeps its event, level and time when a field bears their name", () => {
    const { log, entries } = listen();
    log.error("part.failed", { event: "other", level: "debug", time: 0 });
    const [entry] = entries();
    assert.equal(entry?.["event"], "part.failed");
    assert.equal(entry?.["level"], "error");
    assert.equal(entry?.["event_"], "other");
  });
});

describe("a level", () => {
  const cases: readonly (readonly [LogLevel, readonly string[]])[] = [
    ["debug", ["d", "i", "w", "e"]],
    ["info", ["i", "w", "e"]],
    ["warn", ["w", "e"]],
    ["error", ["e"]],
    ["silent", []],
  ];
  for (const [level, heard] of cases) {
    it(`${level} lets ${heard.length} of four levels through`, () => {
      const { log, entries } = listen(level);
      log.debug("d");
      log.info("i");
      log.warn("w");
      log.error("e");
      assert.deepEqual(
        entries().map(({ event }) => event),
        heard,
      );
    });
  }
  it("is silent for the silent logger", () => {
    assert.equal(silentLogger.error("anything"), undefined);
  });
});

describe("what must not be in a log", () => {
  const secrets = [
    "authorization",
    "Cookie",
    "requestHeaders",
    "prompt",
    "bearerToken",
    "token",
    "password",
    "api_key",
    "apiKey",
    "body",
    "clientSecret",
  ];
  for (const name of secrets) {
    it(`is withheld under the name ${name}`, () => {
      const { log, lines } = listen();
      log.info("request.read", { [name]: "hunter2" });
      assert.doesNotMatch(lines.join(""), /hunter2/);
      assert.match(lines.join(""), /\[withheld\]/);
    });
  }
  it("is told from counts and paths that sound alike", () => {
    const { log, entries } = listen();
    log.info("turn.committed", { contextTokens: 18_432, promptTokens: 5, token: 7, tokensFile: "/run/tokens" });
    const { contextTokens, promptTokens, token, tokensFile } = entries()[0] ?? {};
    assert.deepEqual([contextTokens, promptTokens, token, tokensFile], [18_432, 5, 7, "/run/tokens"]);
  });
  it("is cut where a text is longer than a stack trace", () => {
    const { log, entries } = listen();
    log.info("request.refused", { reason: "x".repeat(100_000) });
    assert.equal(String(entries()[0]?.["reason"]).length, 4_097);
  });
});
