/** The incident of docs/incident.md, command by command, with the real program on a running house: it prints what is written there. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type House, startHouse } from "#test/support/house.ts";
import { masked, type Step, stepsIn, wordsOf } from "#test/support/transcript.ts";
import { until } from "#test/support/until.ts";

const MAIN = new URL("../../gtm/main.ts", import.meta.url).pathname;
const PAGE = new URL("../../docs/incident.md", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "gtm-incident-"));
/** As the page calls the conversation that it is about. */
const CONVERSATION = "4q8t1v7k0c2me";
const NAMES = ["incident-1", "incident-2", "incident-3"];
let conversation = "";
let decision = "";
let house: House;

const takeTurns = async (tokens: number): Promise<void> => {
  for (const name of NAMES) {
    const { headers } = await house.ask({ conversation: name, tokens });
    if (name === NAMES[0]) decision = String(headers["x-gtm-decision"]);
  }
};

before(async () => {
  house = await startHouse({
    // Silent for as long as the commands take, at no price for that; and a busy machine fails no probe.
    policy: { stale_after: "3s", expired_after: "600s", staleness_ms_per_second: 0 },
    regions: { probe: undefined },
  });
  await takeTurns(3_000);
  await takeTurns(3_200);
  conversation = (await house.decision(decision)).conversation?.id ?? "";
});
after(async () => {
  await house?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const isEngineKnown = async (region: string): Promise<boolean> =>
  (await house.region(region)).placements.every(({ isBacklogKnown }) => isBacklogKnown);

/** What the page says happens, by its words; `meanwhile:` while the next command runs. */
const HAPPENINGS: Readonly<Record<string, () => Promise<void>>> = {
  "the agent of eu-central falls silent": async () => {
    // With its engine read in the last report: one that is cut off while it reads says that it does not know.
    await until(async () => {
      await house.stopAgent("eu-central");
      if (await isEngineKnown("eu-central")) return true;
      await house.startAgent("eu-central");
      return false;
    }, "silent");
    await until(async () => (await house.region("eu-central")).health === "degraded", "degraded");
  },
  "every conversation takes a turn": async () => {
    await takeTurns(3_400);
  },
  "the agent of eu-central reports again": async () => {
    await house.startAgent("eu-central");
    await until(async () => (await house.region("eu-central")).health === "healthy", "healthy");
    await until(
      async () => JSON.stringify(await (await fetch(`${house.adminUrl}/status`)).json()).includes(`"state":"ready"`),
      "ready",
    );
  },
};

/** Each would read all of the program's sources anew. */
const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, "compiled") };

/** @returns all that was printed: data, then messages */
const run = async (command: string, meanwhile: readonly string[]): Promise<string> => {
  const words = wordsOf(command)
    .slice(1)
    .map((word) => (/^[0-9A-HJKMNP-TV-Z]{26}$/.test(word) ? decision : word === CONVERSATION ? conversation : word));
  const server = words.includes("--offline") ? [] : ["--server", new URL(house.adminUrl).origin];
  const child = spawn(process.execPath, [MAIN, ...words, ...server], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  const heard = { out: "", err: "" };
  child.stdout.on("data", (data) => {
    heard.out += data;
  });
  child.stderr.on("data", (data) => {
    heard.err += data;
  });
  if (meanwhile.length > 0) await until(() => WAITING.test(heard.err) || child.exitCode !== null, "that it waits");
  for (const what of meanwhile) await HAPPENINGS[what]?.();
  const [exitCode] = await ended;
  const all = `${heard.out}${heard.err}`.replaceAll(conversation, CONVERSATION);
  assert.equal(exitCode, 0, `${command}\n${all}`);
  return all;
};

/** How often it says so depends on how fast conversations leave. */
const WAITING = /^.* pinned conversations? (?:is|are) still in .*\n/m;
/** Without what depends on how fast the machine is: progress, whether GPUs had been read, and how busy few seconds made them. */
const settled = (output: string): string =>
  output
    .replace(new RegExp(`(?:${WAITING.source})+`, "m"), "(waits)\n")
    .replace(/^GPU memory .*\n/m, "")
    .replace(/^busy with them .*\n/m, "")
    .replace(/, (?:most|nearly all) of it recomputing/, ", RECOMPUTING")
    .replace(/^p[0-9]+-[0-9a-z-]+$/m, "PLAN");

describe("the incident of docs/incident.md", () => {
  const text = readFileSync(PAGE, "utf8");
  const steps = stepsIn(text);
  const printed: { readonly step: Step; readonly output: string }[] = [];
  it("has commands, and says what happens in words that the test knows", () => {
    assert.ok(steps.length >= 14, `${steps.length} commands`);
    for (const { before: earlier, meanwhile } of steps) {
      for (const what of [...earlier, ...meanwhile]) assert.ok(what in HAPPENINGS, what);
    }
  });
  for (const step of steps) {
    it(`prints the same for ${step.command}`, async () => {
      for (const what of step.before) await HAPPENINGS[what]?.();
      const output = await run(step.command, step.meanwhile);
      printed.push({ step, output });
      if (process.env["INCIDENT"] !== "write") assert.equal(masked(settled(output)), masked(settled(step.output)));
    });
  }
  after(() => {
    if (process.env["INCIDENT"] !== "write") return;
    const blocks = printed.toReversed();
    let page = text;
    for (const { step, output } of blocks) page = page.slice(0, step.from) + output + page.slice(step.to);
    writeFileSync(PAGE, page);
  });
});
