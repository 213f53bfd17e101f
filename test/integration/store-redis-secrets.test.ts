/** Who the store in Redis says it is, and whom it trusts: users, passwords and certificates from files that may change. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { systemClock } from "#shared/clock.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { type Certificates, makeCertificates } from "#test/support/certificates.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { startRedis } from "#test/support/redis.ts";
import { startCluster } from "#test/support/redis-cluster.ts";
import { startSentinels } from "#test/support/redis-sentinels.ts";
import { until } from "#test/support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "gtm-secrets-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const authority = async (name: string): Promise<Certificates> => makeCertificates(mkdtempSync(join(folder, name)));

const opened = (settings: { readonly url: string } & Record<string, unknown>) => {
  const log = recordingLog();
  const store = openStore(StoreSettings.parse({ deadline: "2s", ...settings }), {
    clock: systemClock,
    log,
    name: "secretive",
  });
  return {
    store,
    causes: () => log.lines.map(({ fields }) => String(fields["cause"] ?? "")).join("\n"),
    [Symbol.asyncDispose]: () => store.close(),
  };
};

describe("a user and a password from files", () => {
  it("are read again when the connection is made anew, so that a password changes without a restart", async () => {
    await using server = await startRedis();
    await server.cli("acl", "setuser", "gtm", "on", ">first", "~*", "&*", "+@all");
    const username_file = file("user", "gtm\n");
    const password_file = file("password", "first\n");
    await using under = opened({ url: server.url, username_file, password_file });
    await under.store.put("key", "value", null);
    assert.match(await server.cli("client", "list"), /name=secretive .*user=gtm/);

    await server.cli("acl", "setuser", "gtm", "resetpass", ">second");
    await server.cli("client", "kill", "user", "gtm");
    await until(() => /WRONGPASS/.test(under.causes()), "the old password is refused");
    assert.equal(under.store.isUp(), false);
    file("password", "second\n");
    await until(() => under.store.isUp(), "the new password is taken");
    assert.equal((await under.store.get("key"))?.value, "value");
    assert.doesNotMatch(under.causes(), /first|second/);
  });
  it("that cannot be read for a moment are those that could", async () => {
    await using server = await startRedis();
    await server.cli("acl", "setuser", "default", "resetpass", ">secret");
    const password_file = file("vanishing", "secret");
    await using under = opened({ url: server.url, password_file });
    await under.store.put("key", "value", null);
    rmSync(password_file);
    await server.restart();
    await until(() => /vanishing/.test(under.causes()), "the missing file is told of");
    await until(() => under.store.isUp(), "the store's return");
  });
  it("in the URL are as good, and the file speaks louder", async () => {
    await using server = await startRedis();
    await server.cli("acl", "setuser", "default", "resetpass", ">se:cr@et");
    const { port } = server;
    await using byUrl = opened({ url: `redis://default:se%3Acr%40et@127.0.0.1:${port}` });
    await byUrl.store.put("key", "value", null);
    const password_file = file("louder", "se:cr@et");
    await using byFile = opened({ url: `redis://:wrong@127.0.0.1:${port}`, password_file });
    assert.equal((await byFile.store.get("key"))?.value, "value");
  });
  it("reach Sentinels, each their own, and the primary behind them", async () => {
    await using house = await startSentinels({ password: "of-data", sentinelPassword: "of-sentinels" });
    await using under = opened({
      url: house.url,
      password_file: file("data", "of-data"),
      sentinel_password_file: file("sentinels", "of-sentinels"),
    });
    await under.store.put("key", "value", null);
    assert.equal((await under.store.get("key"))?.value, "value");
  });
});

describe("TLS with a private authority", () => {
  it("is spoken, with a certificate of our own where the server asks for one", async () => {
    const certificates = await authority("own");
    await using server = await startRedis({ tls: { ...certificates, asksClients: true } });
    const { caFile, client } = certificates;
    const settings = { url: server.url, ca_file: caFile };
    await using known = opened({ ...settings, cert_file: client.certFile, key_file: client.keyFile });
    await known.store.put("key", "value", null);
    const heard: string[] = [];
    await known.store.subscribe("channel", (message) => heard.push(message));
    await known.store.announce("channel", "hello");
    await until(() => heard.includes("hello"));
    await using unknown = opened(settings);
    await assert.rejects(unknown.store.get("key"), { code: "GTM_STORE_UNREACHABLE" });
  });
  it("is not spoken with a server that another authority vouches for", async () => {
    const [own, foreign] = [await authority("right"), await authority("wrong")];
    await using server = await startRedis({ tls: own });
    await using under = opened({ url: server.url, ca_file: foreign.caFile });
    await assert.rejects(under.store.get("key"), { code: "GTM_STORE_UNREACHABLE" });
    assert.match(under.causes(), /certificate/);
  });
  it("reaches every node of a Cluster", async () => {
    const certificates = await authority("cluster");
    await using cluster = await startCluster({ tls: certificates });
    await using under = opened({ url: cluster.url, ca_file: certificates.caFile });
    const keys = Array.from({ length: 20 }, (_, at) => `key:{${at}}`);
    await Promise.all(keys.map((key) => under.store.put(key, key, null)));
    const values = await under.store.getMany(keys);
    assert.deepEqual(
      values.map((stored) => stored?.value),
      keys,
    );
    assert.equal(new Set(keys.map((key) => cluster.nodeOf(key).port)).size, 3);
  });
  it("reaches Sentinels and the primary behind them", async () => {
    const certificates = await authority("sentinels");
    await using house = await startSentinels({ tls: certificates });
    await using under = opened({ url: house.url, ca_file: certificates.caFile });
    await under.store.put("key", "value", null);
    assert.equal((await under.store.get("key"))?.value, "value");
  });
});
