/** Credentials go through every way there is; then all that the GTM and the gateway said is searched for them. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { request } from "undici";
import { SIMULATED_MODEL } from "#test/support/engine-simulators.ts";
import { streamed } from "#test/support/talking-engine.ts";
import { startTicketHouse, type TicketHouse } from "#test/support/ticket-house.ts";
import { until } from "#test/support/until.ts";

const MARK = "s3cr3t-0f-the-client";
const HEADERS = {
  authorization: `Bearer sk-${MARK}`,
  cookie: `session=${MARK}`,
  "x-api-key": `key-${MARK}`,
  "api-key": `azure-${MARK}`,
  "x-team-token": `team-${MARK}`,
};
const CHAT = JSON.stringify({ model: SIMULATED_MODEL, messages: [{ role: "user", content: `the prompt ${MARK}` }] });
/** Also as base64 has it, wherever in three octets it begins. */
const FORMS = [
  MARK,
  ...[0, 1, 2].map((at) =>
    Buffer.from(" ".repeat(at) + MARK)
      .toString("base64")
      .slice(4, -4),
  ),
];

type Seen = { readonly what: string; readonly status: number; readonly location: string; readonly text: string };

describe("credentials", () => {
  let house: TicketHouse;
  const answers: Seen[] = [];

  const ask = async (what: string, url: string, host: string, headers: Record<string, string> = HEADERS) => {
    const reply = await request(url, {
      ...{ method: "POST", body: CHAT },
      headers: { host, "content-type": "application/json", "x-conversation-id": what, ...headers },
    });
    const body = await reply.body.text();
    const location = String(reply.headers["location"] ?? "");
    const seen = { what, status: reply.statusCode, location, text: JSON.stringify(reply.headers) + body };
    answers.push(seen);
    return seen;
  };
  const front = (path = "/v1/chat/completions"): string => `${house.frontUrl}${path}`;

  before(async () => {
    house = await startTicketHouse(streamed(["Good day"]));
  });
  after(() => house[Symbol.asyncDispose]());

  const found = (text: string): string | null => FORMS.find((form) => text.includes(form)) ?? null;

  it("arrive by each way", async () => {
    const { location } = await ask("a ticket", front(), "chat.front.llm.test");
    const gatewayHost = new URL(location).host;
    // A client that follows: to another origin, so without what it drops there.
    assert.equal((await ask("the gateway", location, gatewayHost, {})).status, 200);
    assert.equal((await ask("a forward", front(), "through.front.llm.test")).status, 200);
    assert.equal((await ask("a forward to a bare engine", front(), "auto.front.llm.test")).status, 200);
    assert.equal((await ask("a plain redirect", front(), "plain.front.llm.test")).status, 307);
    for (const heard of [house.engine.heard[0], house.engine.heard[1], house.bareEngine.heard[0]]) {
      for (const [name, value] of Object.entries(HEADERS)) assert.equal(heard?.headers[name], value, name);
    }
    assert.equal(house.engine.heard.length, 2);
  });
  it("go wrong by each way", async () => {
    const { location } = await ask("another ticket", front(), "chat.front.llm.test");
    const { host } = new URL(location);
    await ask("used", location, host, {});
    const wrong: readonly (readonly [string, string, string, number])[] = [
      ["used again", location, host, 400],
      ["cut", location.slice(0, -8), host, 400],
      ["moved to another path", location.replace("/chat/completions", "/completions"), host, 400],
      ["no path of a pool", front(`/${MARK}`), "chat.front.llm.test", 404],
      ["no host of ours", `${house.frontUrl}/v1/x`, `${MARK}.example.com`, 307],
      ["no such model", front(), "chat.front.llm.test", 404],
    ];
    for (const [what, url, to, least] of wrong) {
      const headers = what === "no such model" ? { ...HEADERS, "x-gtm-model": "none" } : HEADERS;
      assert.ok((await ask(what, url, to, headers)).status >= least, what);
    }
  });
  it("stand in no answer, neither header nor body; in a redirect they are sealed", () => {
    for (const { what, text } of answers) {
      assert.equal(found(text), null, `${what}: ${text.slice(0, 300)}`);
    }
    assert.match(answers[0]?.location ?? "", /\?gtm_ticket=[\w.-]{400,}$/);
  });
  it("stand in no log, at any level, of the front door or the gateway", () => {
    const lines = JSON.stringify([house.lines, house.gateway.log.lines]);
    assert.ok(lines.includes("http.listening") && lines.includes("gateway.listening"));
    assert.equal(found(lines), null);
    assert.doesNotMatch(lines, /gtm_ticket|127\.0\.0\.1\/|the prompt/);
  });
  it("stand in no metric", async () => {
    await until(async () => /gtm_http_ways_total\{way="ticket"\} [2-9]/.test(await house.metricsText()));
    for (const text of [await house.metricsText(), await house.gateway.metricsText()]) {
      assert.match(text, /\w+_total/);
      assert.equal(found(text), null);
    }
  });
  it("stand in nothing that the admin API shows", async () => {
    for (const path of ["/decisions?limit=100", "/conversations", "/regions", "/placements", "/status", "/instances"]) {
      const reply = await request(house.adminUrl + path);
      const text = await reply.body.text();
      assert.equal(reply.statusCode, 200, path);
      assert.equal(found(text), null, path);
      if (path.startsWith("/decisions")) assert.ok(text.includes("eu-central") && text.includes("us-east"));
    }
  });
  it("stand in nothing that an engine is told beside the headers themselves", () => {
    for (const { url, headers } of [...house.engine.heard, ...house.bareEngine.heard]) {
      assert.doesNotMatch(url, /gtm_/);
      const others = Object.entries(headers).filter(([name]) => !(name in HEADERS));
      assert.equal(found(JSON.stringify(others)), null);
    }
  });
});
