/** `gtm serve` on sockets that somebody else opened, as systemd's .socket units do; and what it says of descriptors that are none. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { askTcp, openUdp, queryOctets, readReply } from "#test/support/dns-client.ts";
import { freePort } from "#test/support/free-port.ts";
import { houseYaml } from "#test/support/house.ts";
import { here, type Place } from "#test/support/place.ts";
import { type RunningProgram, startProgram } from "#test/support/running-program.ts";

const UNHEARD = "http://127.0.3.9:1";

const settings = (listen: readonly string[]): object => {
  const config = JSON.parse(houseYaml(() => UNHEARD, { regions: { probe: null } }));
  return { ...config, dns: { ...config.dns, listen } };
};

const serve = (listen: readonly string[], within: Pick<Place, "spawn">): Promise<RunningProgram> =>
  startProgram("gtm/main.ts", "serve", settings(listen), { within });

/** Both sockets, the datagrams' first: each of the two opens one, and passes on what it was passed. */
const activated = (at: string): Pick<Place, "spawn"> => ({
  spawn: (words, options = {}) => {
    const activate = "systemd-socket-activate";
    return spawn(activate, ["-d", "-l", at, activate, "-l", at, ...words], options);
  },
});

/** The program gets these files as descriptors 3 and up, and is told that so many are sockets. */
const passed = (count: number, files: readonly number[]): Pick<Place, "spawn"> => ({
  spawn: (words) => {
    const script = `LISTEN_FDS=${count} LISTEN_PID=$$ exec "$@"`;
    return spawn("sh", ["-c", script, "sh", ...words], { stdio: ["ignore", "pipe", "pipe", ...files] });
  },
});

describe("gtm serve, started by a query", () => {
  it("answers that query and all others on the sockets that it was passed, over UDP and TCP", async () => {
    const at = { address: "127.0.0.1", port: await freePort() };
    const starting = serve(["fd:3", "fd:4"], activated(`${at.address}:${at.port}`));
    await using client = await openUdp(at);
    const query = queryOctets({ name: "chat.llm.test" });
    // Until the sockets are open nobody hears it; from then on it waits in the socket for the program.
    const asking = setInterval(() => client.send(query), 200);
    try {
      const reply = readReply(await client.next());
      await using gtm = await starting;
      assert.deepEqual([reply.rcode, reply.data.length], [0, 1]);
      assert.deepEqual((await askTcp(at, { name: "chat.llm.test" })).data, reply.data);
      assert.deepEqual(
        gtm.said("dns.listening").map(({ address, port }) => ({ address, port })),
        [at],
      );
    } finally {
      clearInterval(asking);
    }
  });
});

describe("gtm serve, with descriptors in its configuration", () => {
  const listen = ["fd:3", "fd:4"];
  let file = -1;
  before(() => {
    file = openSync("package.json", "r");
  });
  after(() => closeSync(file));
  const cases: readonly { when: string; within: () => Pick<Place, "spawn">; says: RegExp }[] = [
    {
      when: "nobody passes any",
      within: () => here,
      says: /GTM_LISTEN_FAILED.*expected to listen on fd:3, found: no LISTEN_FDS/,
    },
    {
      when: "fewer are passed",
      within: () => passed(0, [file, file]),
      says: /GTM_LISTEN_FAILED.*fd:3, found: descriptors passed: none/,
    },
    {
      when: "they are something else",
      within: () => passed(2, [file, file]),
      says: /GTM_LISTEN_FAILED.*fd:3, found: .*package\.json, which is no socket/,
    },
  ];
  for (const { when, within, says } of cases) {
    it(`says so and ends where ${when}`, async () => {
      await assert.rejects(() => serve(listen, within()), says);
    });
  }
});
