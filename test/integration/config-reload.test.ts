/** `gtm serve`, its configuration changed in every way that people and machines change files, while 200 queries a second are answered. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createToken, hashOfToken } from "#gtm/wire/admin/token.ts";
import { tokenLine } from "#gtm/wire/admin/tokens-file.ts";
import { openUdp, queryOctets, type Reply, readReply } from "#test/support/dns-client.ts";
import { houseYaml } from "#test/support/house.ts";
import { type RunningProgram, startProgram } from "#test/support/running-program.ts";
import { until } from "#test/support/until.ts";

type Settings = ReturnType<typeof houseSettings>;

const houseSettings = (regions: readonly string[] = ["eu-central"], more: object = {}) => {
  const house = JSON.parse(houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } }));
  const [model] = house.models;
  return {
    ...house,
    regions: [
      ...house.regions,
      { id: "ap-south", location: { lat: 19.1, lon: 72.9 }, endpoint: { url: "http://127.0.3.9:1", a: ["127.0.3.3"] } },
    ].filter(({ id }: { id: string }) => regions.includes(id)),
    pools: [{ name: "chat", models: [model.id], regions, last_resort: { kind: "regions", order: regions } }],
    ...more,
  };
};

const ADDRESS = { "eu-central": "127.0.3.1", "us-east": "127.0.3.2", "ap-south": "127.0.3.3" } as const;
const [A, SOA] = [1, 6];
type RegionName = keyof typeof ADDRESS;

/** As a ConfigMap is mounted: the file is a link through `..data`, a link that is replaced by another. */
const folder = mkdtempSync(join(tmpdir(), "gtm-reload-"));
const file = join(folder, "gtm.yaml");
let generation = 0;
const mount = (settings: Settings | string): void => {
  generation += 1;
  const name = `..${generation}`;
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, "gtm.yaml"), typeof settings === "string" ? settings : JSON.stringify(settings));
  symlinkSync(name, join(folder, "..data_tmp"));
  renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
};
/** As an editor does it: a new file takes the name of the old one. */
const replace = (text: string): void => {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
};

const stack = new AsyncDisposableStack();
let gtm: RunningProgram;
let ask: (name: string, type?: number) => Promise<Reply>;
/** What may be answered now; between two configurations either. */
let allowed: ReadonlySet<string> = new Set([ADDRESS["eu-central"]]);
const wrong: string[] = [];
let asked = 0;
let answered = 0;

const api = async (method: string, path: string, body?: object) => {
  const response = await fetch(`${gtm.url("admin")}/api/v1${path}`, {
    method,
    ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as never };
};
const change = async (to: RegionName, how: () => void): Promise<void> => {
  allowed = new Set([...allowed, ADDRESS[to]]);
  how();
  await until(async () => (await ask("chat.llm.test")).data[0] === ADDRESS[to], `${to} is answered`);
  allowed = new Set([ADDRESS[to]]);
};

before(async () => {
  mount(houseSettings());
  symlinkSync("..data/gtm.yaml", file);
  gtm = stack.use(await startProgram("gtm/main.ts", "serve", {}, { config: file }));
  const [listening] = gtm.said("dns.listening");
  const client = stack.use(
    await openUdp({ address: String(listening?.["address"]), port: Number(listening?.["port"]) }),
  );
  ask = async (name, type = A) => readReply(await client.ask(queryOctets({ name, type })));
  const traffic = setInterval(() => {
    asked += 1;
    const may = allowed;
    void ask("chat.llm.test").then(({ rcode, data }) => {
      answered += 1;
      const isRight = rcode === 0 && data.length === 1 && [...may, ...allowed].includes(data[0] ?? "");
      if (!isRight) wrong.push(`${rcode} ${data.join()}`);
    });
  }, 5);
  stack.defer(() => clearInterval(traffic));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
});
after(() => stack.disposeAsync());

describe("a configuration that is changed under traffic", () => {
  it("is taken when a ConfigMap is swapped: the added region is answered, the removed one no longer", async () => {
    await change("us-east", () => mount(houseSettings(["us-east"])));
    const { body } = await api("GET", "/regions");
    assert.deepEqual(
      (body as { items: { id: string }[] }).items.map(({ id }) => id),
      ["us-east"],
    );
    assert.equal(gtm.said("config.read", { by: "file" }).length, 1);
  });

  it("is taken when an editor puts a new file in the old one's place", async () => {
    await change("ap-south", () => replace(JSON.stringify(houseSettings(["ap-south"]))));
    assert.equal(await gtm.metric("gtm_config_reloads_total", { outcome: "taken", by: "file" }), 2);
  });

  it("is not taken when it is faulty: the one before stands, and every fault is told with its line", async () => {
    replace("version: 1\ninstance: gtm-1\nregoins: []\n");
    await until(async () => (await gtm.metric("gtm_config_refused")) === 1, "it is refused");
    const { body } = await api("GET", "/config");
    const { refused } = body as { refused: { by: string; faults: { line: number; at: string; message: string }[] } };
    assert.equal(refused.by, "file");
    assert.deepEqual(
      refused.faults.filter(({ at }) => at === "regoins"),
      [{ line: 3, column: 1, at: "regoins", message: "unknown key" }],
    );
    const status = (await api("GET", "/status")).body as { degradations: { what: string; reason: string }[] };
    assert.ok(
      status.degradations.some(({ what, reason }) => what === "configuration" && reason.includes("cannot be used")),
    );
    assert.ok(gtm.said("config.refused").length > 0);
    assert.equal((await ask("chat.llm.test")).data[0], ADDRESS["ap-south"]);
  });

  it("is taken at once by SIGHUP, says what waits for a restart, and changes what decisions go by", async () => {
    const before = (await ask("llm.test", SOA)).packet.answers?.[0] as { data: { serial: number } };
    const settings = houseSettings(["ap-south"], { policy: { margin: "777ms", ttl_unsettled: "3s" } });
    replace(JSON.stringify({ ...settings, store: { url: "memory:", deadline: "750ms" }, log: { level: "debug" } }));
    process.kill(gtm.pid, "SIGHUP");
    await until(() => gtm.said("config.read", { by: "signal" }).length > 0, "it is read");
    assert.deepEqual(
      gtm.said("config.restart-needed").map(({ setting }) => setting),
      ["store.deadline"],
    );
    const { body } = await api("POST", "/explain", { pool: "chat", client: "192.0.2.1" });
    assert.equal((body as { ttlSeconds: number }).ttlSeconds, 3);
    const config = (await api("GET", "/config")).body as {
      refused: null;
      pending: { at: string; running: unknown; file: unknown }[];
    };
    assert.equal(config.refused, null);
    assert.deepEqual(
      config.pending.map(({ at, running, file: wanted }) => [at, running, wanted]),
      [["store.deadline", "500ms", "750ms"]],
    );
    const after = (await ask("llm.test", SOA)).packet.answers?.[0] as { data: { serial: number } };
    assert.equal(after.data.serial, before.data.serial, "the zone is the same");
  });

  it("is taken by the API, once a dry run has said what it would do", async () => {
    writeFileSync(`${folder}/next`, JSON.stringify(houseSettings(["eu-central"])));
    const check = await api("POST", "/config/check", { yaml: JSON.stringify(houseSettings(["eu-central"])) });
    const { plan } = check.body as { plan: { pools: object[] } };
    assert.deepEqual(plan.pools, [{ pool: "chat", regionsLost: ["ap-south"], regionsGained: ["eu-central"] }]);
    const serialBefore = (await ask("llm.test", SOA)).packet.answers?.[0] as { data: { serial: number } };
    await change("eu-central", () => {
      replace(JSON.stringify(houseSettings(["eu-central"])));
      void api("POST", "/config/reload", { comment: "a test" });
    });
    const serial = (await ask("llm.test", SOA)).packet.answers?.[0] as { data: { serial: number } };
    assert.equal(serial.data.serial, serialBefore.data.serial + 1, "the zone is another");
  });

  it("lets others in from now on, and where the list of tokens cannot be read, those of before", async () => {
    const [admin, viewer] = [createToken(), createToken()];
    const tokens = join(folder, "tokens.yaml");
    const line = (name: string, token: string) => tokenLine({ name, role: "admin", sha256: hashOfToken(token) });
    writeFileSync(tokens, line("alice", admin));
    const status = async (token?: string): Promise<number> => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return (await fetch(`${gtm.url("admin")}/api/v1/whoami`, { headers })).status;
    };
    const settings = (file: string) => {
      const house = houseSettings(["eu-central"]) as Settings & { admin: object };
      return JSON.stringify({ ...house, admin: { ...house.admin, auth: { tokens_file: file } } });
    };
    replace(settings(tokens));
    await until(async () => (await status()) === 401, "who has no token is let in no more");
    assert.equal(await status(admin), 200);
    const refusedBefore = gtm.said("config.refused").length;
    replace(settings(join(folder, "absent.yaml")));
    await until(() => gtm.said("config.refused").length > refusedBefore, "a list that is not there is refused");
    assert.deepEqual([await status(), await status(admin)], [401, 200]);
    writeFileSync(join(folder, "others.yaml"), line("bob", viewer));
    const readBefore = gtm.said("config.read").length;
    replace(settings(join(folder, "others.yaml")));
    // Not by asking: whoever fails too often is told to wait.
    await until(() => gtm.said("config.read").length > readBefore, "another list is taken");
    assert.deepEqual([await status(viewer), await status(admin)], [200, 401]);
  });

  it("cost no query its answer, and no answer was another configuration's", async () => {
    assert.ok(asked > 200, `${asked} queries`);
    await until(() => answered >= asked - 1, "all are answered");
    assert.deepEqual(wrong, []);
    assert.equal(gtm.said("record.bug").length + gtm.said("dns.bug").length, 0);
  });
});
