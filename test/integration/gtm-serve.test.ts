/** `gtm serve` as the process that operators run: how it starts, how it fails to, and how it ends under load. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, it } from "node:test";
import { askUdp, openUdp } from "#test/support/dns-client.ts";
import { houseYaml } from "#test/support/house.ts";
import { runNode } from "#test/support/program.ts";

type Address = { readonly address: string; readonly port: number };
type Served = AsyncDisposable & {
  readonly http: Address;
  readonly dns: Address;
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>;
};

const UNHEARD = "http://127.0.3.9:1";

const withConfig = async <T>(text: string, use: (path: string) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), "gtm-serve-"));
  try {
    const path = join(folder, "gtm.yaml");
    writeFileSync(path, text);
    return await use(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** Ports are free ones; the log says which. */
const serve = async (path: string): Promise<Served> => {
  const child = spawn(process.execPath, ["gtm/main.ts", "serve", "--config", path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit") as Promise<[number | null]>;
  const listening: Partial<Record<"http" | "dns", Address>> = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const { event, address, port } = JSON.parse(line) as { event: string; address: string; port: number };
    if (event === "dns.listening") listening.dns = { address, port };
    if (event === "http.listening") listening.http = addressIn(address);
    if (event === "process.started") break;
  }
  child.stdout.resume();
  const { http, dns } = listening;
  assert.ok(http !== undefined && dns !== undefined, "it said where it listens");
  return {
    http,
    dns,
    end: async (signal) => {
      child.kill(signal);
      return (await ended)[0];
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
};

const addressIn = (text: string): Address => {
  const at = text.lastIndexOf(":");
  return { address: text.slice(0, at), port: Number(text.slice(at + 1)) };
};

/** A connection that asks once and reads to the end; null: it was closed without an answer. */
const askOnce = (
  { address, port }: Address,
  body: string,
): { readonly answer: Promise<string | null>; readonly accepted: Promise<void> } => {
  const socket = connect(port, address);
  const accepted = new Promise<void>((resolve, reject) => {
    socket.once("connect", () => {
      const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: front.llm.test\r\nX-Conversation-Id: c\r\nContent-Length: ${body.length}\r\n\r\n`;
      socket.write(head + body, () => resolve());
    });
    socket.once("error", reject);
  });
  const answer = new Promise<string | null>((resolve) => {
    let text = "";
    socket.on("data", (data) => {
      text += data.toString();
      if (text.includes("\r\n\r\n")) resolve(text);
    });
    socket.on("error", () => resolve(null));
    socket.on("close", () => resolve(text === "" ? null : text));
  });
  return { answer: answer.finally(() => socket.destroy()), accepted };
};

describe("gtm serve", () => {
  it("answers DNS and HTTP before any region has reported, and ends with 0 on SIGTERM", async () => {
    await withConfig(
      houseYaml(() => UNHEARD, { regions: { probe: null } }),
      async (path) => {
        await using gtm = await serve(path);
        const { rcode, data } = await askUdp(gtm.dns, { name: "chat.llm.test" });
        assert.deepEqual([rcode, data.length], [0, 1]);
        const answer = await askOnce(gtm.http, "{}").answer;
        assert.match(answer ?? "", /^HTTP\/1\.1 307 /);
        assert.equal(await gtm.end("SIGTERM"), 0);
      },
    );
  });

  it("answers everything that it accepted before SIGTERM, on two hundred connections", async () => {
    await withConfig(
      houseYaml(() => UNHEARD, { regions: { probe: null } }),
      async (path) => {
        await using gtm = await serve(path);
        const asked = Array.from({ length: 200 }, () => askOnce(gtm.http, JSON.stringify({ model: "llama-3.3-70b" })));
        await Promise.all(asked.map(({ accepted }) => accepted));
        const ended = gtm.end("SIGTERM");
        const answers = await Promise.all(asked.map(({ answer }) => answer));
        const statuses = new Map<string, number>();
        for (const answer of answers) {
          const status = answer?.slice(9, 12) ?? "dropped";
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
        assert.deepEqual([...statuses], [["307", 200]]);
        assert.equal(await ended, 0);
      },
    );
  });

  it("goes on after packets and requests that are none", async () => {
    await withConfig(
      houseYaml(() => UNHEARD, { regions: { probe: null } }),
      async (path) => {
        await using gtm = await serve(path);
        await using udp = await openUdp(gtm.dns);
        for (const octets of [[], [0], new Array(11).fill(255), new Array(600).fill(0xc0)])
          udp.send(Buffer.from(octets));
        const socket = connect(gtm.http.port, gtm.http.address);
        socket.end("\0\0 garbage \r\n\r\n");
        socket.resume();
        await once(socket, "close");
        assert.equal((await askUdp(gtm.dns, { name: "chat.llm.test" })).rcode, 0);
        assert.match((await askOnce(gtm.http, "{}").answer) ?? "", /^HTTP\/1\.1 307 /);
      },
    );
  });

  it("names the address and ends with 1 where a port is taken", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as Address;
    const config = JSON.parse(houseYaml(() => UNHEARD)) as { http: { listen: string } };
    config.http.listen = `127.0.0.1:${port}`;
    await withConfig(JSON.stringify(config), async (path) => {
      const { exitCode, stdout, stderr } = await runNode(["gtm/main.ts", "serve", "--config", path]);
      assert.equal(exitCode, 1);
      assert.match(stdout + stderr, new RegExp(`GTM_LISTEN_FAILED.*127\\.0\\.0\\.1:${port}`));
    });
    taken.close();
  });

  it("names every fault of its configuration and ends with 1", async () => {
    const config = JSON.parse(houseYaml(() => UNHEARD));
    config.version = 2;
    config.dns.default_pool = "other";
    config.regions[0].location.lat = 95;
    config.pools[0].models = [];
    config.metricz = config.metrics;
    await withConfig(JSON.stringify(config, null, 1), async (path) => {
      const { exitCode, stderr } = await runNode(["gtm/main.ts", "serve", "--config", path]);
      assert.equal(exitCode, 1);
      for (const fault of [/version/, /regions\[0\]\.location\.lat/, /pools\[0\]\.models/, /metricz/])
        assert.match(stderr, fault);
    });
  });
});

describe("gtm check", () => {
  it("calls the example configuration usable", async () => {
    const { exitCode, stdout } = await runNode(["gtm/main.ts", "check", "--config", "deploy/config/gtm.yaml"]);
    assert.equal(exitCode, 0);
    assert.match(stdout, /usable\. llm\.example\.com: 2 regions, 1 pool\n$/);
  });
});
