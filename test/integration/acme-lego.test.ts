/** lego gets a wildcard certificate from an authority that asks the other GTM: two processes on one Redis, each as the shipped user. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { decode } from "dns-packet";
import { createToken, hashOfToken } from "#gtm/wire/admin/token.ts";
import { tokenLine } from "#gtm/wire/admin/tokens-file.ts";
import { askUdp } from "#test/support/dns-client.ts";
import { houseYaml } from "#test/support/house.ts";
import { runLego, startPebble } from "#test/support/pebble.ts";
import { startRedis } from "#test/support/redis.ts";
import { makeRedisUsers } from "#test/support/redis-users.ts";
import { startProgram } from "#test/support/running-program.ts";
import { until } from "#test/support/until.ts";

const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const folder = mkdtempSync(join(tmpdir(), "gtm-acme-"));
stack.defer(() => rmSync(folder, { recursive: true }));

const users = await makeRedisUsers(join(folder, "users"), ["eu-central"]);
const redis = stack.use(await startRedis({ aclFile: users.aclFile, login: users.login("admin") }));
const password = createToken();
const tokensFile = join(folder, "tokens.yaml");
writeFileSync(
  tokensFile,
  `${tokenLine({ name: "lego", role: "acme", sha256: hashOfToken(password), names: ["c.llm.test", "chat.llm.test"] })}\n`,
);

const start = async (instance: string) => {
  const house = JSON.parse(houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } }));
  const program = stack.use(
    await startProgram("gtm/main.ts", "serve", {
      ...{ ...house, instance, store: users.store("gtm", redis.url, { deadline: "2s" }) },
      admin: { listen: "127.0.0.1:0", auth: { tokens_file: tokensFile } },
    }),
  );
  const [dns] = program.said("dns.listening");
  const at = { address: "127.0.0.1", port: Number(dns?.["port"]) };
  return {
    program,
    endpoint: `${program.url("admin")}/acme`,
    dns: `${at.address}:${at.port}`,
    /** @returns null: there is no such name */
    texts: async (name: string): Promise<readonly string[] | null> => {
      const { rcode, octets } = await askUdp(at, { name, type: 16 });
      if (rcode === 3) return null;
      return (decode(octets).answers ?? []).flatMap((one) => (one.type === "TXT" ? [[one.data].flat().join("")] : []));
    },
  };
};
const [a, b] = await Promise.all([start("a"), start("b")]);

const NAME = "_acme-challenge.chat.llm.test";
const call = async (gtm: typeof a, path: string, value: string): Promise<number> => {
  const response = await fetch(`${gtm.endpoint}/${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Basic ${Buffer.from(`lego:${password}`).toString("base64")}`,
    },
    body: JSON.stringify({ fqdn: `${NAME}.`, value }),
  });
  await response.text();
  return response.status;
};

describe("a wildcard certificate", () => {
  it("is issued to lego, which speaks to one GTM, by an authority that asks the other", async (t) => {
    const authority = stack.use(await startPebble(b.dns));
    const beganAt = performance.now();
    const file = await runLego({
      authority,
      // Two of them share a name, and each has a value there.
      domains: ["*.c.llm.test", "c.llm.test", "chat.llm.test"],
      resolver: b.dns,
      env: {
        HTTPREQ_ENDPOINT: a.endpoint,
        HTTPREQ_USERNAME: "lego",
        HTTPREQ_PASSWORD: password,
        HTTPREQ_POLLING_INTERVAL: "1",
        HTTPREQ_PROPAGATION_TIMEOUT: "60",
      },
    });
    t.diagnostic(`issued within ${Math.round(performance.now() - beganAt)} ms`);
    const certificate = new X509Certificate(readFileSync(file));
    assert.equal(
      certificate.subjectAltName?.split(", ").sort().join(" "),
      "DNS:*.c.llm.test DNS:c.llm.test DNS:chat.llm.test",
    );
    assert.match(certificate.issuer, /Pebble Intermediate CA/);
    assert.equal(certificate.checkHost("p1abc.c.llm.test"), "*.c.llm.test");
    t.diagnostic(`${certificate.subjectAltName}, issued by ${certificate.issuer}`);
    const presented = a.program.said("acme.presented");
    assert.deepEqual(presented.map(({ name, actor }) => `${name} ${actor}`).sort(), [
      "_acme-challenge.c.llm.test lego",
      "_acme-challenge.c.llm.test lego",
      `${NAME} lego`,
    ]);
    await until(async () => (await b.texts("_acme-challenge.c.llm.test")) === null, "lego cleaned up");
    assert.equal((await redis.cli("get", "gtm:v1:acme:{_acme-challenge.c.llm.test}")).includes('"values":[]'), true);
  });
  it("is not to be had for a name that the token is not for", async () => {
    const authority = stack.use(await startPebble(b.dns));
    const env = { HTTPREQ_ENDPOINT: a.endpoint, HTTPREQ_USERNAME: "lego", HTTPREQ_PASSWORD: password };
    await assert.rejects(
      runLego({ authority, domains: ["*.m.llm.test"], resolver: b.dns, env }),
      /403.*lego may answer challenges of c\.llm\.test, chat\.llm\.test only/s,
    );
    assert.equal(await b.texts("_acme-challenge.m.llm.test"), null);
  });
});

describe("what is presented to one GTM", () => {
  it("is answered by the other a moment later, and no more once it is cleaned up", async (t) => {
    const tookMs: number[] = [];
    for (let round = 0; round < 10; round++) {
      const value = `round-${round}`;
      assert.equal(await call(a, "present", value), 200);
      const beganAt = performance.now();
      await until(async () => (await b.texts(NAME))?.includes(value) === true, `${value} is at the other`);
      tookMs.push(performance.now() - beganAt);
      assert.equal(await call(b, "cleanup", value), 200);
      await until(async () => (await a.texts(NAME)) === null, `${value} is gone from the first`);
    }
    t.diagnostic(`at the other GTM ${tookMs.map((ms) => ms.toFixed(1)).join(", ")} ms after the answer`);
  });
  it("is answered while Redis is away; what comes then is refused until it is back, and lost values are put back", async () => {
    assert.equal(await call(a, "present", "before"), 200);
    await until(async () => (await b.texts(NAME)) !== null, "it is at the other");
    redis.kill("SIGKILL");
    assert.equal(await call(a, "present", "meanwhile"), 503);
    assert.equal(await call(b, "cleanup", "before"), 503);
    assert.deepEqual([await a.texts(NAME), await b.texts(NAME)], [["before"], ["before"]]);
    await redis.restart();
    await until(async () => (await redis.cli("exists", `gtm:v1:acme:{${NAME}}`)) === "1", "it is put back");
    await until(async () => (await call(a, "present", "after")) === 200, "it takes challenges again");
    await until(async () => (await b.texts(NAME))?.length === 2, "both are at the other");
  });
});
