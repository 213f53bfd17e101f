/** `gtm events tail` as a process: what it prints, how it ends, and how another goes on where it ended. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { CONVERSATION } from "#test/support/builders.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { until } from "#test/support/until.ts";
import { runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const ENTRY = new URL("../unit/gtm/cli/entry.ts", import.meta.url).pathname;

const start = (words: readonly string[]) => {
  const child = spawn(process.execPath, [ENTRY, ...words], { stdio: ["ignore", "pipe", "pipe"] });
  const heard = { out: "", err: "" };
  child.stdout.on("data", (chunk) => {
    heard.out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    heard.err += chunk;
  });
  return { child, heard, ended: once(child, "close") };
};

describe("gtm events tail", () => {
  it("prints what happens, ends with 0 when it is interrupted, and says how to go on", async () => {
    await using admin = await runningAdmin();
    const hasReader = async () => (await metricValue(admin.metrics, "gtm_admin_event_readers")) === 1;
    const first = start(["events", "tail", "-o", "jsonl", "--server", admin.url]);
    await until(hasReader, "a reader");
    const seen = admin.gtm.decide({ conversationId: CONVERSATION }).decision.id;
    await until(() => first.heard.out.includes("\n"), "a line");
    first.child.kill("SIGINT");
    assert.deepEqual((await first.ended)[0], 0);
    const event = JSON.parse(first.heard.out);
    assert.deepEqual([event.event, event.data.id], ["decision", seen]);
    assert.equal(first.heard.err, `gtm events tail --after ${event.id} goes on here.\n`);

    const missed = admin.gtm.decide().decision.id;
    const second = start(["events", "tail", "--after", event.id, "--count", "1", "--server", admin.url]);
    assert.equal((await second.ended)[0], 0);
    assert.match(
      second.heard.out,
      new RegExp(`^AT +EVENT +REGION +WHAT\\n\\S+ \\S+ +placed +frankfurt .* ${missed}\\n$`),
    );
  });
});
