/** What the command line shows of a real admin server, and how it fails. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { describe, it } from "node:test";
import { createMetricsServer } from "#gtm/wire/admin/metrics-server.ts";
import { createToken } from "#gtm/wire/admin/token.ts";
import { createMetrics } from "#shared/metrics.ts";
import { aConversation, aRegion, CONVERSATION, regionId } from "#test/support/builders.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { runCli, type Terminal } from "#test/unit/gtm/cli/fake-io.ts";
import { READY } from "#test/unit/gtm/wire/admin/fake-ports.ts";
import { runningAdmin, tokensFile } from "#test/unit/gtm/wire/admin/running-admin.ts";

const at = (url: string, ...words: string[]) => [...words, "--server", url];

describe("gtm instances", () => {
  it("shows the GTMs on the store, what differs in their configuration, and both answers", async () => {
    await using admin = await runningAdmin();
    const same = { version: "0.1.0", config: { regions: "0011" }, configDiffers: [], isSameState: true };
    const question = { question: "chat from paris", here: regionId("paris"), there: null, forMs: 2_500 };
    admin.gtm.state.others = [
      { ...same, id: "gtm-2", heardMsAgo: 100, disagreements: [] },
      { ...same, id: "gtm-3", heardMsAgo: 200, disagreements: [question] },
      { ...same, id: "gtm-4", heardMsAgo: 0, configDiffers: ["regions"], isSameState: false, disagreements: [] },
      { ...same, id: "gtm-5", heardMsAgo: 0, version: "", config: null, isSameState: false, disagreements: [] },
    ];
    const { exitCode, out, err } = await runCli(at(admin.url, "instances"));
    assert.equal(
      out,
      [
        "INSTANCE  SEEN       VERSION  CONFIGURATION     ANSWERS",
        "gtm-1     this one   0.1.0",
        "gtm-2     0.1 s ago  0.1.0    the same          the same",
        "gtm-3     0.2 s ago  0.1.0    the same          1 differ",
        "gtm-4     0.0 s ago  0.1.0    differs: regions  not comparable now",
        "gtm-5     0.0 s ago  -        -                 not comparable now",
        "  chat from paris: paris here, no region on gtm-3, for 2.5 s",
        "",
      ].join("\n"),
    );
    assert.deepEqual([exitCode, err], [0, ""]);
  });
});

describe("gtm status", () => {
  it("shows the GTM, then each region and what follows from its states", async () => {
    await using admin = await runningAdmin();
    const { exitCode, out, err } = await runCli(at(admin.url, "status"));
    assert.equal(
      out,
      [
        "gtm-1, llm-gtm 0.1.0: ready, up 0.0 s, store up, world 0.0 s old",
        "pool chat: llama-70b in frankfurt, paris, singapore",
        "",
        "REGION     ADMIN   HEALTH   NEW  HELD  REPORT AGE  WHAT FOLLOWS",
        "frankfurt  active  healthy  yes  yes        0.5 s  In service.",
        "paris      active  healthy  yes  yes        0.5 s  In service.",
        "singapore  active  healthy  no   no         0.5 s  No model is placed here.",
        "",
      ].join("\n"),
    );
    assert.deepEqual([exitCode, err], [0, ""]);
  });
  it("says why it is degraded, and what is frozen", async () => {
    await using admin = await runningAdmin();
    const sinceMs = Date.UTC(2026, 10, 30, 3);
    admin.gtm.state.health = {
      ...READY,
      degradedSinceMs: sinceMs,
      reasons: ["the store does not answer", "2 pins wait"],
      degradations: [
        { what: "store", reason: "the store does not answer", sinceMs },
        { what: "pins", reason: "2 pins wait", sinceMs: sinceMs + 3_588_000 },
      ],
      savedWorldAgeMs: 3_700_000,
    };
    admin.gtm.state.world = { ...admin.gtm.state.world, isStoreUp: false, areAgesFrozen: true };
    const { out } = await runCli(at(admin.url, "status"));
    assert.match(
      out,
      /: degraded since 2026-11-30T03:00:00\.000Z, up 0\.0 s, store away, .*from a file saved 62 min ago, ages frozen because the silence is ours\n/,
    );
    assert.ok(
      out.includes(
        [
          "",
          "DEGRADED     FOR  REASON",
          "store     60 min  the store does not answer",
          "pins        12 s  2 pins wait",
          "",
          "pool chat",
        ].join("\n"),
      ),
      out,
    );
  });
  it("colours states only where the terminal takes colours", async () => {
    await using admin = await runningAdmin({ regions: [aRegion("frankfurt", { health: "silent" })] });
    const words = at(admin.url, "status");
    assert.ok((await runCli(words, { isColourful: true })).out.includes("\u001b[31msilent\u001b[0m"));
    assert.ok(!(await runCli(words)).out.includes("\u001b"));
  });
});

describe("gtm regions and gtm placements", () => {
  it("list every region with its order", async () => {
    await using admin = await runningAdmin();
    await admin.ask("POST", "/regions/paris/drain", { body: { mode: "drain-new", comment: "driver update" } });
    const { out } = await runCli(at(admin.url, "regions"));
    assert.match(out, /^paris +drain-new +healthy +no +yes +0\.5 s +1 +8\.0 GB {2}driver update \(loopback\)$/m);
  });
  it("show one region with its placements and replicas", async () => {
    await using admin = await runningAdmin();
    await admin.ask("POST", "/regions/paris/drain", {
      body: { mode: "drain-new", comment: "driver update", for: "2h" },
    });
    const { out } = await runCli(at(admin.url, "regions", "paris"));
    assert.match(
      out,
      /^ordered +drain-new by loopback at 2026-11-30 04:00:00Z, until 2026-11-30 06:00:00Z \(in 2 h 0 min\): driver update$/m,
    );
    assert.match(out, /^paris +llama-70b +loaded +1 +400 ms +1 +0 +0\.10 +0\.50 +5 000 +20 ms +200 ms +0\.5 s$/m);
    assert.match(out, /^paris\.example\.org:8000\/0 +llama-70b +400 ms +400 000 tokens +0 tokens$/m);
  });
  it("mark what is unknown, guessed or partial", async () => {
    const frankfurt = aRegion("frankfurt", {
      isPartial: true,
      gpuMemoryFreeBytes: null,
      placement: { isBacklogKnown: false, kvCacheUsedFraction: null, prefillConfidence: 0.1 },
    });
    await using admin = await runningAdmin({ regions: [frankfurt, aRegion("paris", { reportAgeMs: null })] });
    assert.match(
      (await runCli(at(admin.url, "placements", "--region", "frankfurt"))).out,
      / unknown +1 +0 +- +0\.50 +5 000\? /,
    );
    const { out } = await runCli(at(admin.url, "regions"));
    assert.match(out, /^frankfurt .* 0\.5 s partial +1 +- {2}-$/m);
    assert.match(out, /^paris .* never /m);
  });
});

describe("gtm explain", () => {
  it("shows every region's cost in parts, the reason and what would flip it", async () => {
    await using admin = await runningAdmin();
    const words = [
      "explain",
      "--pool",
      "chat",
      "--client",
      "203.0.113.7",
      "--conversation",
      CONVERSATION,
      "--prompt-tokens",
      "21000",
    ];
    const { exitCode, out } = await runCli(at(admin.url, ...words));
    assert.equal(exitCode, 0);
    assert.match(out, /^verdict +pinned → frankfurt; runner-up paris, 4\.41 s more; margin 50 ms$/m);
    assert.match(
      out,
      /^conversation +abcdefgh01234, at home in frankfurt, 20 000 tokens of context, 1 000 new, 3 turns, idle 30 s$/m,
    );
    assert.match(
      out,
      /^ {2}REGION +TOTAL +TTFT +NETWORK +QUEUE +PREFILL +RECOMPUTE +MEMORY +HELD TOKENS +REPORT AGE +EXCLUDED$/m,
    );
    assert.match(out, /^→ frankfurt +225 ms +225 ms +25 ms +0 ms +200 ms +0 ms +0 ms +20 000 +0\.5 s$/m);
    assert.match(out, /^ {2}paris +4\.63 s +4\.60 s +97 ms +303 ms +200 ms +4\.00 s +31 ms +0 +0\.5 s$/m);
    assert.match(out, /^ {2}singapore +- .* 0\.5 s {2}model-not-placed model=llama-70b$/m);
    assert.match(
      out,
      /^Stays in frankfurt, which holds 20 000 tokens of it\. paris would cost 4\.41 s more, nearly all of it recomputing\.$/m,
    );
    assert.match(out, /^It would be otherwise if frankfurt's queue grew by 4\.92 s\.$/m);
    assert.deepEqual(admin.gtm.state.entries, []);
  });
  it("as JSON is what the API said", async () => {
    await using admin = await runningAdmin();
    const asked = await admin.ask("POST", "/explain", { body: { pool: "chat", client: "203.0.113.7" } });
    // Each answer has an id of its own, and ties are broken by it: the first question put to each of three that are alike.
    const said = async (form: string): Promise<string> => {
      await using alike = await runningAdmin();
      return (await runCli(at(alike.url, "explain", "--pool", "chat", "--client", "203.0.113.7", "-o", form))).out;
    };
    assert.deepEqual(JSON.parse(await said("json")), asked.body);
    assert.equal(await said("jsonl"), `${JSON.stringify(asked.body)}\n`);
  });
  it("of a pool that is not there, or a client that is no network, says what there is", async () => {
    await using admin = await runningAdmin();
    const pool = await runCli(at(admin.url, "explain", "--pool", "x", "--client", "203.0.113.7"));
    assert.deepEqual([pool.exitCode, pool.out, pool.err], [1, "", "gtm: There is no pool x; there are chat.\n"]);
    const client = await runCli(at(admin.url, "explain", "--pool", "chat", "--client", "Berlin"));
    assert.deepEqual(
      [client.exitCode, client.err],
      [2, "gtm: client: must be an IP address or a network, such as 203.0.113.7 or 203.0.113.0/24\n"],
    );
  });
});

describe("gtm decisions", () => {
  it("list shows a line each, newest first, and how to go on", async () => {
    await using admin = await runningAdmin();
    const ids = [1, 2, 3].map(() => admin.gtm.decide({ conversationId: CONVERSATION }).decision.id);
    const { out, err } = await runCli(at(admin.url, "decisions", "list", "--limit", "2"));
    const [header, ...lines] = out.trimEnd().split("\n");
    assert.match(
      header ?? "",
      /^AT +DECISION +BY +POOL +CLIENT +VERDICT +REGION +RUNNER-UP +LEAD +TTFT +CONVERSATION$/,
    );
    assert.deepEqual(
      lines.map((line) => line.split(/ {2,}/)[1]),
      [ids[2], ids[1]],
    );
    assert.equal(err, "There is more: --cursor 2\n");
    const rest = await runCli(at(admin.url, "decisions", "list", "--cursor", "2", "-o", "jsonl"));
    assert.deepEqual(
      rest.out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).id),
      [ids[0]],
    );
  });
  it("show is the same as explain shows", async () => {
    await using admin = await runningAdmin();
    const { decision } = admin.gtm.decide({ conversationId: CONVERSATION });
    const { out } = await runCli(at(admin.url, "decisions", "show", decision.id));
    assert.match(out, new RegExp(`^decision +${decision.id} at 2026-11-30 04:00:00Z by http$`, "m"));
    assert.match(out, /^→ frankfurt/m);
  });
  it("show of one that nobody remembers says so", async () => {
    await using admin = await runningAdmin();
    const { exitCode, err } = await runCli(at(admin.url, "decisions", "show", "01KB8Y0000000000000000ZZZZ"));
    assert.equal(exitCode, 1);
    assert.match(err, /^gtm: This instance \(gtm-1\) does not remember decision/);
  });
});

describe("a list without anything in it", () => {
  it("says so on standard error, and is no error", async () => {
    await using admin = await runningAdmin();
    const { exitCode, out, err } = await runCli(at(admin.url, "decisions", "list"));
    assert.deepEqual([exitCode, out.split("\n").length, err], [0, 2, "Nothing matches.\n"]);
    const jsonl = await runCli(at(admin.url, "decisions", "list", "-o", "jsonl"));
    assert.deepEqual([jsonl.exitCode, jsonl.out, jsonl.err], [0, "", ""]);
  });
});

describe("gtm conversations", () => {
  const conversations = [
    aConversation({ home: "frankfurt", contextTokens: 20_000, alsoHeldBy: [{ region: "paris", tokens: 8_000 }] }),
  ];
  it("list shows where each is at home and where else it is held", async () => {
    await using admin = await runningAdmin({ conversations });
    const { out } = await runCli(at(admin.url, "conversations", "list", "--region", "frankfurt"));
    assert.match(out, /^abcdefgh01234 +frankfurt +llama-70b +20 000 +3 +30 s +yes +paris$/m);
  });
  it("show tells each holding and its age", async () => {
    await using admin = await runningAdmin({ conversations });
    const { out } = await runCli(at(admin.url, "conversations", "show", CONVERSATION));
    assert.match(out, /^idle +30 s, pinned$/m);
    assert.match(out, /^paris +- +8 000 +30 s$/m);
  });
  it("release needs a person or --yes", async () => {
    await using admin = await runningAdmin({ conversations });
    const words = at(admin.url, "conversations", "release", CONVERSATION);
    assert.equal((await runCli(words)).exitCode, 2);
    assert.equal((await runCli(words, { answers: ["n"] })).exitCode, 1);
    assert.equal(admin.gtm.state.conversations.length, 1);
    assert.equal((await runCli(words, { answers: ["y"] })).out, `${CONVERSATION}: released\n`);
    assert.equal((await runCli([...words, "--yes"])).out, `${CONVERSATION}: nothing was known of it\n`);
  });
});

describe("a GTM that cannot be asked", () => {
  const cases: readonly { what: string; server: string; exitCode: number; says: RegExp }[] = [
    {
      what: "runs nowhere",
      server: "http://127.0.0.1:9",
      exitCode: 3,
      says: /cannot reach the GTM at http:\/\/127\.0\.0\.1:9: /,
    },
    {
      what: "has a name that is none",
      server: "http://gtm.invalid",
      exitCode: 3,
      says: /there is no such host|cannot be resolved/,
    },
    {
      what: "is no address",
      server: "localhost:9443",
      exitCode: 2,
      says: /--server: expected an address such as http/,
    },
    { what: "is no http address", server: "ftp://localhost", exitCode: 2, says: /--server: expected an address/ },
  ];
  for (const { what, server, exitCode, says } of cases) {
    it(`because it ${what} is exit ${exitCode}`, async () => {
      const ran = await runCli(at(server, "status"));
      assert.equal(ran.exitCode, exitCode);
      assert.match(ran.err, says);
      assert.equal(ran.out, "");
    });
  }

  const answering = async (status: number, type: string, body: string) => {
    const server = createServer((_request, response) => {
      response.writeHead(status, { "content-type": type, location: "http://192.0.2.1/" }).end(body);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    assert.ok(address !== null && typeof address === "object");
    return {
      url: `http://127.0.0.1:${address.port}`,
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  };
  const strangers: readonly { what: string; reply: Parameters<typeof answering>; exitCode: number; says: RegExp }[] = [
    {
      what: "a web page",
      reply: [200, "text/html", "<html>"],
      exitCode: 1,
      says: /is not the admin API of a GTM \(status 200, text\/html\); check --server/,
    },
    {
      what: "JSON of something else",
      reply: [200, "application/json", "{}"],
      exitCode: 1,
      says: /is not what this version of gtm expects/,
    },
    { what: "an error of something else", reply: [502, "application/json", "{}"], exitCode: 1, says: /answered 502/ },
    {
      what: "JSON that is cut off",
      reply: [200, "application/json", '{"a'],
      exitCode: 1,
      says: /is not the admin API of a GTM/,
    },
    { what: "a redirect, which is not followed", reply: [307, "text/plain", ""], exitCode: 3, says: /redirect/ },
  ];
  for (const { what, reply, exitCode, says } of strangers) {
    it(`because something else answers with ${what} is exit ${exitCode}`, async () => {
      await using stranger = await answering(...reply);
      const ran = await runCli(at(stranger.url, "status"));
      assert.match(ran.err, says);
      assert.equal(ran.exitCode, exitCode);
    });
  }

  it("because of its token is exit 1 and says what to set", async () => {
    await using tokens = await tokensFile();
    await using admin = await runningAdmin({ tokensFile: tokens.path });
    const run = (env: Terminal["env"] = {}) => runCli(at(admin.url, "status"), { env });
    const missing = await run();
    assert.deepEqual([missing.exitCode, missing.err.slice(0, 36)], [1, "gtm: 401, GTM_TOKEN is not set: Send"]);
    assert.match((await run({ GTM_TOKEN: createToken() })).err, /the token in GTM_TOKEN was not accepted/);
    assert.equal((await run({ GTM_TOKEN: tokens.of.viewer })).exitCode, 0);
    const forbidden = await runCli(at(admin.url, "undrain", "paris", "--yes"), {
      env: { GTM_TOKEN: tokens.of.viewer },
    });
    assert.deepEqual(
      [forbidden.exitCode, forbidden.err],
      [1, "gtm: This needs the role operator; the-viewer is viewer.\n"],
    );
  });

  it("because its store is away is exit 1 and says that nothing changed", async () => {
    await using admin = await runningAdmin();
    admin.gtm.state.isStoreAway = true;
    const { exitCode, err } = await runCli(at(admin.url, "undrain", "frankfurt", "--yes"));
    assert.deepEqual([exitCode, err], [0, ""]);
    const drained = await runCli(at(admin.url, "drain", "frankfurt", "--mode", "drain-new", "--comment", "x", "--yes"));
    assert.equal(drained.exitCode, 1);
    assert.match(drained.err, /^gtm: 503, the store does not answer: Nothing was changed/);
  });
});

describe("gtm health", () => {
  const health = async (isReady: boolean, degradedSinceMs: number | null) => {
    const server = createMetricsServer({
      listen: { address: "127.0.0.1", port: 0 },
      metrics: createMetrics(),
      health: () => ({
        ...READY,
        isReady,
        degradedSinceMs,
        reasons: degradedSinceMs === null ? [] : ["the store does not answer"],
      }),
      log: recordingLog(),
    });
    await server.start();
    const ran = await runCli(["health", "--metrics-server", `http://127.0.0.1:${server.address().port}`]);
    await server.stop();
    return [ran.exitCode, ran.out];
  };
  it("is 0 when ready and when degraded, which still serves, and 1 when not", async () => {
    assert.deepEqual(await health(true, null), [0, "ready\n"]);
    assert.deepEqual(await health(true, 0), [
      0,
      "degraded since 1970-01-01T00:00:00.000Z\n  the store does not answer\n",
    ]);
    assert.deepEqual(await health(false, null), [1, "not-ready\n"]);
  });
  it("is 3 when nobody is there, and names its own option", async () => {
    const { exitCode, err } = await runCli(["health", "--metrics-server", "http://127.0.0.1:9"]);
    assert.equal(exitCode, 3);
    assert.match(err, /--metrics-server names another address/);
  });
});
