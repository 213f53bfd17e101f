/** Redirects with tickets: what the gateway of the region named finds in them, and whom none is made for. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RegionId } from "#shared/ids.ts";
import { tagOf } from "#shared/pin-token.ts";
import { createTicketOpener, createTicketSealer, type TicketClaims } from "#shared/ticket.ts";
import { ticketKeysById, ticketRingOf } from "#shared/ticket-keys.ts";
import { aPool, aRegion, MODEL } from "#test/support/builders.ts";
import { type FrontDoorWish, type RunningFrontDoor, startFrontDoor, ZONE } from "#test/support/front-door.ts";
import { TICKET_RING } from "#test/support/tickets.ts";

const SECRET = "Bearer sk-very-secret";
const PATH = "/v1/chat/completions";
const REGIONS = ["frankfurt", "paris", "virginia"].map((id) => aRegion(id, { hasGateway: true }));

const startWithGateways = (wish: FrontDoorWish = {}): Promise<RunningFrontDoor> =>
  startFrontDoor({
    worldRegions: REGIONS,
    gateways: new Set(REGIONS.map(({ id }) => id)),
    ticketSealer: () => createTicketSealer(TICKET_RING),
    ...wish,
  });

const ask = async (front: RunningFrontDoor, headers: Record<string, string>, path = PATH): Promise<Response> =>
  fetch(`${front.url}${path}`, {
    method: "POST",
    redirect: "manual",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "llama", max_tokens: 300, messages: [{ role: "user", content: "Hi" }] }),
  });

const located = (reply: Response): URL => new URL(reply.headers.get("location") ?? "");
const regionOf = (reply: Response): RegionId => RegionId.parse(reply.headers.get("x-gtm-region"));

const openedBy = async (front: RunningFrontDoor, reply: Response): Promise<TicketClaims> => {
  const url = located(reply);
  const region = regionOf(reply);
  const opener = createTicketOpener({ keys: ticketKeysById(ticketRingOf(TICKET_RING, region), region), region });
  const ticket = url.searchParams.get("gtm_ticket") ?? "";
  url.searchParams.delete("gtm_ticket");
  const asked = { method: "POST", host: url.host, path: `${url.pathname}${url.search}` };
  const opened = await opener.open(ticket, asked, front.clock.epochMs());
  assert.equal(opened.kind, "opened", JSON.stringify(opened));
  return opened.kind === "opened" ? opened.claims : assert.fail();
};

describe("a request with a key, to regions with gateways", () => {
  it("is redirected with a ticket, which tells the gateway all that was decided", async () => {
    await using front = await startWithGateways();
    const reply = await ask(front, { authorization: SECRET, "x-conversation-id": "c1" }, `${PATH}?trace=1`);
    assert.equal(reply.status, 307);
    assert.equal(reply.headers.get("cache-control"), "no-store");
    const url = located(reply);
    assert.match(
      url.href,
      /^https:\/\/frankfurt\.r\.llm\.example\.org\/v1\/chat\/completions\?trace=1&gtm_ticket=[\w.-]+$/,
    );
    const claims = await openedBy(front, reply);
    assert.deepEqual(claims.headers, [["authorization", SECRET]]);
    const [entry] = front.entries;
    assert.equal(claims.decision, entry?.decision.id);
    assert.equal(claims.conversation, entry?.query.conversationId);
    assert.deepEqual(
      [claims.pool, claims.model, claims.clientPrefix, claims.pin, claims.tenantTag],
      ["chat", MODEL, "127.0.0.0/24", reply.headers.get("x-gtm-pin"), tagOf(entry?.query.tenant ?? "")],
    );
    // Of max_tokens 300, nothing learnt: the policy's usual answer is shorter, and the gateway knows better than a guess.
    assert.deepEqual(
      [claims.outputTokens, entry?.decision.turn.outputTokens, entry?.decision.turn.outputSource],
      [null, 256, "prior"],
    );
    assert.ok((claims.predictedTtftMs ?? 0) > 0);
    assert.deepEqual(
      claims.alternates.map(({ region }) => region),
      ["paris", "virginia"],
    );
    assert.equal(claims.alternates[0]?.origin, "https://paris.r.llm.example.org");
  });
  for (const name of ["authorization", "cookie", "x-api-key", "api-key"]) {
    it(`keeps ${name}, and shows it nowhere`, async () => {
      await using front = await startWithGateways();
      const reply = await ask(front, { [name]: SECRET });
      assert.deepEqual((await openedBy(front, reply)).headers, [[name, SECRET]]);
      const shown = [...reply.headers].flat().join("\n") + (await reply.text());
      assert.doesNotMatch(shown, /very-secret/);
      assert.doesNotMatch(JSON.stringify([front.lines, front.entries]), /very-secret/);
      assert.doesNotMatch(await front.metrics.text(), /very-secret/);
    });
  }
  it("keeps configured headers too, and no others", async () => {
    await using front = await startWithGateways({ ticketHeaders: ["x-team-token"] });
    const reply = await ask(front, { "x-team-token": "t", "x-other": "o" });
    assert.deepEqual((await openedBy(front, reply)).headers, [["x-team-token", "t"]]);
  });
  it("drops parameters of our name that the client brought along", async () => {
    await using front = await startWithGateways();
    const reply = await ask(front, { authorization: SECRET }, `${PATH}?gtm_ticket=x&a=1&gtm_c=y`);
    assert.match(located(reply).search, /^\?a=1&gtm_ticket=[\w.-]{100,}$/);
    await openedBy(front, reply);
  });
  it("with an empty query has the ticket alone", async () => {
    await using front = await startWithGateways();
    const reply = await ask(front, { authorization: SECRET }, `${PATH}?`);
    assert.match(located(reply).search, /^\?gtm_ticket=[\w.-]+$/);
    await openedBy(front, reply);
  });
  it("names as alternates only regions with a gateway", async () => {
    const gateways = new Set([RegionId.parse("frankfurt"), RegionId.parse("virginia")]);
    await using front = await startWithGateways({ gateways });
    const claims = await openedBy(front, await ask(front, { authorization: SECRET }));
    assert.deepEqual(
      claims.alternates.map(({ region }) => region),
      ["virginia"],
    );
  });
});

describe("a request is redirected without a ticket", () => {
  it("with its conversation where it has no key", async () => {
    await using front = await startWithGateways();
    const reply = await ask(front, { "x-conversation-id": "c1" });
    assert.equal(located(reply).search, `?gtm_c=${reply.headers.get("x-gtm-pin")}`);
  });
  it("with nothing where it has neither", async () => {
    await using front = await startWithGateways({ identityOrder: [] });
    assert.equal(located(await ask(front, {})).href, `https://frankfurt.r.${ZONE}${PATH}`);
  });
  it("with nothing, its key included, where the region has no gateway", async () => {
    await using front = await startWithGateways({ gateways: new Set() });
    const reply = await ask(front, { authorization: SECRET, "x-conversation-id": "c1" }, `${PATH}?gtm_c=mine`);
    assert.equal(located(reply).href, `https://frankfurt.r.${ZONE}${PATH}?gtm_c=mine`);
  });
});

describe("the ways of steered requests", () => {
  it("are counted", async () => {
    await using front = await startWithGateways({ pools: [aPool(REGIONS)] });
    await ask(front, { authorization: SECRET });
    await ask(front, { "x-conversation-id": "c1" });
    const text = await front.metrics.text();
    assert.match(text, /gtm_http_ways_total\{way="ticket"\} 1/);
    assert.match(text, /gtm_http_ways_total\{way="pin"\} 1/);
  });
});
