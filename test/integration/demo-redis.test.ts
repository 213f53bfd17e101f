/** The demo on Redis: the story with a server of its own, which it kills, and with somebody's, which dies under it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { freePort } from "#test/support/free-port.ts";
import { runNode, startNode } from "#test/support/program.ts";
import { startRedis } from "#test/support/redis.ts";

/** Every port of a demo is then below those of `freePort`, and a demo two further has none of them. */
const OFFSET = 100 + 4 * Math.floor(Math.random() * 550);
const STEPS = Array.from({ length: 13 }, (_, at) => `ok ${at + 1}.`);

/** On a busy machine the story takes twice the minute that a test has. */
const SLOWLY = { timeout: 110_000 };

// Both at once: the story mostly waits.
describe("npm run demo -- --script --redis URL", { concurrency: true }, () => {
  it("starts a server where nothing listens, kills it, and finds everything put back", SLOWLY, async () => {
    const port = await freePort();
    const url = `redis://somebody:p%40ss${"$"}{HOME}@127.0.0.1:${port}/20`;
    const { exitCode, stdout, stderr } = await runNode(story(OFFSET, url));
    assert.equal(exitCode, 0, `${stdout}\n${stderr}`);
    assert.deepEqual(marksIn(stdout), STEPS);
    assert.match(
      stdout,
      /^Nothing listened at redis:\/\/somebody@127\.0\.0\.1:\d+\/20: the demo started a redis-server/,
    );
    assert.match(
      stdout,
      /6\. Redis is killed: every GTM says so .*\n +demo-1, after .* degraded since .*\n +demo-2, after /,
    );
    assert.match(stdout, /10\. Redis is started again, empty: .*(?:\n +\d+\.\d\d s {2}.*){5}\n/);
    assert.doesNotMatch(stdout, /p@ss|p%40ss/, "no password is printed");
    assert.equal(stderr, "", "and nothing went wrong on the way");
  });

  it(
    "goes on when somebody else's server is killed and comes back empty, and leaves nothing in it",
    SLOWLY,
    async () => {
      await using redis = await startRedis();
      await using demo = startNode(story(OFFSET + 2, redis.url));
      // The next thing it does is to order something, which has to be kept.
      await demo.says(/^ok +4\./m);
      redis.kill("SIGKILL");
      await demo.says(/^ +Redis is away: this step waits for it/m);
      await redis.restart();
      const { exitCode, stdout, stderr } = await demo.ended;
      assert.equal(exitCode, 0, `${stdout}\n${stderr}`);
      assert.deepEqual(marksIn(stdout), STEPS);
      assert.match(stdout, /^A server answers at redis:\/\/127\.0\.0\.1:\d+, which is not the demo's to kill/);
      assert.match(stdout, /^ +Redis was away for \d+\.\d\d s of this step\.\nok +\d+\./m);
      assert.match(stdout, /10\. Redis can be reached again: /);
      assert.equal(stderr, "", "and nothing went wrong on the way");
      const left = (await redis.cli("keys", "*")).split("\n").filter((key) => key !== "");
      const expiring = await Promise.all(left.map(async (key) => Number(await redis.cli("pttl", key)) !== -1));
      assert.ok(expiring.every(Boolean), `${left} expire`);
    },
  );
});

describe("npm run demo -- --redis URL", () => {
  it("says how to start a Redis where none answers, and ends with 1", async () => {
    const port = await freePort();
    const { exitCode, stderr } = await runNode(["deploy/demo/main.ts", "--redis", `redis://:secret@127.0.0.1:${port}`]);
    assert.equal(exitCode, 1);
    assert.match(stderr, new RegExp(`^demo: no Redis lets the demo in at redis://@127.0.0.1:${port}: .*ECONNREFUSED`));
    assert.match(stderr, new RegExp(`^Start one: redis-server --port ${port} --save "" --appendonly no$`, "m"));
    assert.doesNotMatch(stderr, /secret/);
  });

  it("says so where its password is wrong", async () => {
    await using redis = await startRedis({
      args: ["--requirepass", "right"],
      login: { user: "default", password: "right" },
    });
    const url = redis.url.replace("//", "//:wrong@");
    const { exitCode, stderr } = await runNode(["deploy/demo/main.ts", "--redis", url]);
    assert.equal(exitCode, 1);
    assert.match(stderr, /^demo: no Redis lets the demo in at redis:\/\/@127\.0\.0\.1:\d+: .*WRONGPASS/);
  });
});

const story = (offset: number, url: string): readonly string[] => [
  ...["deploy/demo/main.ts", "--script", "--port-offset", String(offset), "--redis", url],
];

const marksIn = (stdout: string): readonly string[] | undefined =>
  stdout.match(/^(?:ok|FAIL) +\d+\./gm)?.map((line) => line.replaceAll(/ +/g, " "));
