/** What a redirect carries: the ticket that restores a key, the pin that names a conversation, and who is told what when they are wrong. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { request } from "undici";
import { ConversationId, PoolName, RegionId } from "#shared/ids.ts";
import { createLabels } from "#shared/pin-token.ts";
import { createTicketSealer, TicketClaims } from "#shared/ticket.ts";
import { regionTicketKeysText, ticketRingOf } from "#shared/ticket-keys.ts";
import { openGateway, REGION_HOST, ZONE } from "#test/support/gateway.ts";
import { keyFolder, keyOf, ringKey } from "#test/support/key-folder.ts";
import { plainReplicas } from "#test/support/plain-replicas.ts";
import { chunkOf, saying, startTalkingEngine, streamed } from "#test/support/talking-engine.ts";
import { until } from "#test/support/until.ts";

const PARIS = RegionId.parse("paris");
const SECRET = "Bearer sk-the-clients-own-secret";
const PATH = "/v1/chat/completions?trace=1";
const CONVERSATION = ConversationId.parse("0123456789abc");
const PARENT = ConversationId.parse("0123456789abd");
const BODY = JSON.stringify({ messages: [{ role: "user", content: "hello" }] });
const ring = [ringKey(7)];
const labels = createLabels({ identityKey: keyOf(200), signingKeys: [ringKey(7)] });
const pinOf = (region: string): string =>
  labels.mint({
    pool: PoolName.parse("chat"),
    region: RegionId.parse(region),
    conversation: CONVERSATION,
    issuedAtMs: Date.now(),
  });

const claims = (wish: object = {}): TicketClaims =>
  TicketClaims.parse({
    ...{ v: 1, method: "POST", host: REGION_HOST, path: PATH, pool: "chat", model: "llama-70b" },
    ...{ conversation: CONVERSATION, parent: PARENT, pin: pinOf("paris"), decision: "01JDXV3Z000000000000000001" },
    ...{
      predictedTtftMs: 180.5,
      clientPrefix: "192.0.2.0/24",
      headers: [
        ["authorization", SECRET],
        ["cookie", "a=1"],
      ],
    },
    ...{ alternates: [], outputTokens: 256, promptTokens: 20_000, tenantTag: 4_711 },
    ...wish,
  });

const sealed = (wish: object = {}, atMs = Date.now(), region = PARIS): Promise<string> =>
  createTicketSealer(ring).seal(region, claims(wish), atMs);

/** A gateway with the GTMs' keys and its own region's of tickets. */
const keyed = () => {
  const folder = keyFolder();
  const ticketFile = join(folder.path, "ticket-paris.keys");
  writeFileSync(ticketFile, regionTicketKeysText(ticketRingOf(ring, PARIS), PARIS));
  const keys = { identity_file: folder.files.identity, signing_file: folder.files.signing, ticket_file: ticketFile };
  return { folder, settings: { keys } };
};

type Wish = {
  readonly path?: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
};
const ask = (port: number, { path = PATH, host = REGION_HOST, headers = {}, method = "POST" }: Wish = {}) =>
  request(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { host, ...headers },
    ...(method === "POST" ? { body: BODY } : {}),
  });

describe("a ticket", () => {
  it("restores the headers that the client dropped, is gone from the query, and says what the front found", async () => {
    const { folder, settings } = keyed();
    using _ = folder;
    await using engine = await startTalkingEngine(saying({ ok: true }));
    const replicas = plainReplicas([engine.origin]);
    await using gateway = await openGateway({ replicas, settings });
    // The client's own remnants of what was sealed do not stand beside it.
    const answer = await ask(gateway.port, {
      path: `${PATH}&gtm_ticket=${await sealed()}`,
      headers: { cookie: "old=2" },
    });
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.headers["x-gtm-pin"], claims().pin);
    assert.equal(answer.headers["x-gtm-decision"], claims().decision);
    const [heard] = engine.heard;
    assert.equal(heard?.url, PATH);
    assert.equal(heard?.headers.authorization, SECRET);
    assert.equal(heard?.headers.cookie, "a=1");
    const { receivedAtMs: _at, ...turn } = replicas.turns[0] ?? { receivedAtMs: 0 };
    assert.deepEqual(turn, {
      ...{ model: "llama-70b", conversation: CONVERSATION, parent: PARENT, pool: "chat", tenantTag: 4_711 },
      promptTokens: 20_000,
      ...{ outputTokens: 256, clientPrefix: "192.0.2.0/24", rttMs: null, predictedTtftMs: 180.5 },
      ...{ decision: "01JDXV3Z000000000000000001", path: "/v1/chat/completions" },
    });
  });

  it("works with clocks that are 20 s apart, either way", async () => {
    const { folder, settings } = keyed();
    using _ = folder;
    await using engine = await startTalkingEngine(saying({ ok: true }));
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]), settings });
    for (const offMs of [-19_000, 19_000]) {
      const answer = await ask(gateway.port, { path: `${PATH}&gtm_ticket=${await sealed({}, Date.now() + offMs)}` });
      assert.equal(answer.statusCode, 200, `${offMs} ms`);
      await answer.body.dump();
    }
  });

  it("that is wrong is refused with a body that says how, and its secret stands nowhere", async () => {
    const { folder, settings } = keyed();
    using _ = folder;
    await using engine = await startTalkingEngine(saying({ ok: true }));
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]), settings });
    const good = await sealed();
    const cases: readonly { name: string; ask: Wish; status: number; code: string; says: RegExp; retry: string }[] = [
      {
        name: "cut",
        ask: { path: `${PATH}&gtm_ticket=${good.slice(0, -9)}` },
        status: 400,
        code: "ticket-malformed",
        says: /damaged/,
        retry: "false",
      },
      {
        name: "empty",
        ask: { path: `${PATH}&gtm_ticket=` },
        status: 400,
        code: "ticket-malformed",
        says: /damaged/,
        retry: "false",
      },
      {
        name: "a minute old",
        ask: { path: `${PATH}&gtm_ticket=${await sealed({}, Date.now() - 60_000)}` },
        ...{
          status: 401,
          code: "ticket-expired",
          // A ticket's times are whole seconds, and the machine may be busy.
          says: /this clock is ahead of the GTM's by (?:59|6\d) s.*Set both clocks/,
          retry: "true",
        },
      },
      {
        name: "of a minute from now",
        ask: { path: `${PATH}&gtm_ticket=${await sealed({}, Date.now() + 60_000)}` },
        ...{ status: 401, code: "ticket-not-yet", says: /this clock is behind the GTM's/, retry: "false" },
      },
      {
        name: "another region's",
        ask: { path: `${PATH}&gtm_ticket=${await sealed({}, Date.now(), RegionId.parse("berlin"))}` },
        ...{ status: 401, code: "ticket-unknown-key", says: /a key that this gateway does not have/, retry: "false" },
      },
      {
        name: "moved to another path",
        ask: { path: `/v1/completions?gtm_ticket=${good}` },
        status: 401,
        code: "ticket-other-target",
        says: /another method, host or path/,
        retry: "false",
      },
      {
        name: "moved to another query",
        ask: { path: `${PATH}&x=1&gtm_ticket=${good}` },
        status: 401,
        code: "ticket-other-target",
        says: /another method, host or path/,
        retry: "false",
      },
      {
        name: "moved to another of our hosts",
        ask: { host: `chat.${ZONE}`, path: `${PATH}&gtm_ticket=${good}` },
        status: 401,
        code: "ticket-other-target",
        says: /another method/,
        retry: "false",
      },
      {
        name: "of another method",
        ask: { method: "GET", path: `${PATH}&gtm_ticket=${good}` },
        status: 401,
        code: "ticket-other-target",
        says: /another method/,
        retry: "false",
      },
    ];
    for (const { name, ask: wish, status, code, says, retry } of cases) {
      const answer = await ask(gateway.port, wish);
      const text = await answer.body.text();
      const problem = JSON.parse(text) as { code: string; detail: string; error: { message: string } };
      assert.deepEqual(
        [answer.statusCode, problem.code, answer.headers["x-should-retry"]],
        [status, code, retry],
        name,
      );
      assert.match(problem.detail, says, name);
      assert.equal(problem.error.message, problem.detail);
      assert.ok(!text.includes("secret") && !text.includes(good), name);
    }
    const first = await ask(gateway.port, { path: `${PATH}&gtm_ticket=${good}` });
    assert.equal(first.statusCode, 200);
    await first.body.dump();
    const again = await ask(gateway.port, { path: `${PATH}&gtm_ticket=${good}` });
    assert.equal(((await again.body.json()) as { code: string }).code, "ticket-replayed");
    assert.equal(engine.heard.length, 1);

    const said = JSON.stringify(gateway.log.lines) + (await gateway.metricsText());
    for (const secret of ["sk-the-clients", good.slice(-30), "gtm_ticket=", "trace=1"])
      assert.ok(!said.includes(secret), secret);
    assert.match(said, /gtm_gateway_tickets_total\{outcome=.{1,2}ticket-expired/);
  });

  it("cannot be opened without keys, and the answer says which are missing", async () => {
    await using gateway = await openGateway({ replicas: plainReplicas(["http://127.0.0.1:9"]) });
    const answer = await ask(gateway.port, { path: `${PATH}&gtm_ticket=${await sealed()}` });
    assert.equal(answer.statusCode, 401);
    assert.match(await answer.body.text(), /keys\.ticket_file/);
  });

  it("sealed with a new key opens once the file has it, without a restart", async () => {
    const { folder, settings } = keyed();
    using _ = folder;
    await using engine = await startTalkingEngine(saying({ ok: true }));
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]), settings });
    const next = [ringKey(8), ringKey(7, "old")];
    const seal = () => createTicketSealer(next).seal(PARIS, claims(), Date.now());
    const before = await ask(gateway.port, { path: `${PATH}&gtm_ticket=${await seal()}` });
    assert.equal(before.statusCode, 401);
    await before.body.dump();
    folder.write(settings.keys.ticket_file, regionTicketKeysText(ticketRingOf(next, PARIS), PARIS));
    await until(async () => {
      const answer = await ask(gateway.port, { path: `${PATH}&gtm_ticket=${await seal()}` });
      await answer.body.dump();
      return answer.statusCode === 200;
    });
  });
});

describe("a conversation", () => {
  const stranger = labels.read("my-chat").conversation;
  const other = ConversationId.parse("vvvvvvvvvvvvv");
  const cases = async (): Promise<readonly { by: string; ask: Wish; expected: string | null }[]> => [
    { by: "nothing", ask: {}, expected: null },
    { by: "the header", ask: { headers: { "x-gtm-pin": pinOf("paris") } }, expected: CONVERSATION },
    { by: "the redirect's parameter", ask: { path: `${PATH}&gtm_c=${pinOf("paris")}` }, expected: CONVERSATION },
    { by: "a parameter that nobody signed", ask: { path: `${PATH}&gtm_c=my-chat` }, expected: null },
    { by: "a forged header", ask: { headers: { "x-gtm-pin": `${pinOf("paris").slice(0, -4)}0000` } }, expected: null },
    { by: "a label of ours", ask: { host: `${pinOf("paris")}.c.${ZONE}` }, expected: CONVERSATION },
    {
      by: "a label in another letter case",
      ask: { host: `${pinOf("paris").toUpperCase()}.C.${ZONE}` },
      expected: CONVERSATION,
    },
    { by: "a stranger's label", ask: { host: `my-chat.c.${ZONE}` }, expected: stranger },
    {
      by: "the ticket, whatever the header says",
      ask: {
        path: `${PATH}&gtm_ticket=${await sealed({ conversation: other })}`,
        headers: { "x-gtm-pin": pinOf("paris") },
      },
      expected: other,
    },
  ];
  it("is named by the label, the ticket, the parameter or the header, in that order, and the engine sees nothing of it", async () => {
    const { folder, settings } = keyed();
    using _ = folder;
    await using engine = await startTalkingEngine(saying({ ok: true }));
    const replicas = plainReplicas([engine.origin]);
    await using gateway = await openGateway({ replicas, settings });
    for (const { by, ask: wish, expected } of await cases()) {
      const answer = await ask(gateway.port, wish);
      await answer.body.dump();
      assert.equal(replicas.turns.at(-1)?.conversation, expected, by);
      assert.equal(engine.heard.at(-1)?.url, PATH, by);
    }
    assert.match(await gateway.metricsText(), /gtm_gateway_pins_forged_total 1/);
  });

  it("that lives elsewhere by its label is served, and its connection ends so that the next turn resolves anew", async () => {
    const { folder, settings } = keyed();
    using _ = folder;
    await using engine = await startTalkingEngine(streamed(["a"]));
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]), settings });
    const here = await ask(gateway.port, { host: `${pinOf("paris")}.c.${ZONE}` });
    assert.notEqual(here.headers["connection"], "close");
    await here.body.dump();
    const elsewhere = await ask(gateway.port, { host: `${pinOf("berlin")}.c.${ZONE}` });
    assert.equal(elsewhere.statusCode, 200);
    assert.equal(elsewhere.headers["connection"], "close");
    assert.ok((await elsewhere.body.text()).startsWith(chunkOf("a")));
  });

  it("is believed to live where the ledger says, however old its label is", async () => {
    const { folder, settings } = keyed();
    using _ = folder;
    await using engine = await startTalkingEngine(streamed(["a"]));
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]), settings });
    const record = (region: string): string =>
      JSON.stringify({ v: 1, rev: 1, m: "m", f: "0 0 1 0", h: [`${region} 10 0`] });
    const cases = [
      { label: "berlin", ledger: "paris", connection: "keep-alive" },
      { label: "paris", ledger: "berlin", connection: "close" },
    ];
    for (const { label, ledger, connection } of cases) {
      await gateway.store.put(`gtm:v1:conv:{${CONVERSATION}}`, record(ledger), 60_000);
      const answer = await ask(gateway.port, { host: `${pinOf(label)}.c.${ZONE}` });
      await answer.body.dump();
      assert.equal(answer.headers["connection"], connection, `${label} by label, ${ledger} by ledger`);
    }
  });
});
