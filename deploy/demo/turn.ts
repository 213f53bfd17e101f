/** One turn as an OpenAI client takes it: ask the front door, follow its redirect, stream the answer; distances are slept. */
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { greatCircleRttMs } from "#gtm/domain/topology.ts";
import { ENGINE_KEY, type Place, placeOf } from "./places.ts";

export type Message = { readonly role: "system" | "user" | "assistant"; readonly content: string };

export type Client = {
  readonly place: Place;
  /** Its address, which the front door hears from its proxy. */
  readonly address: string;
};

export type Chat = {
  readonly id: string;
  readonly model: string;
  readonly messages: readonly Message[];
  readonly maxTokens: number;
  /** Where the turn before went, and the token that says so; null: this is the first. */
  readonly region: string | null;
  readonly pin: string | null;
};

export type Turn = Redirect & {
  /** From the request's start to the first token, distances included. */
  readonly ttftMs: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly answer: string;
};

/** TCP, TLS 1.3 and the request on a new connection; one round trip on an open one. */
const ROUND_TRIPS_NEW = 3;
/** The front door that DNS names is near: a round trip of the least distance. */
const FRONT_RTT_MS = 25;

/** Connections are the clients' own: nothing of the GTM's is shared. */
const connections = new Agent({ connections: 32, headersTimeout: 60_000, bodyTimeout: 60_000 });

export type Redirect = {
  readonly decision: string;
  readonly verdict: string;
  readonly region: string;
  /** The conversation's label, which is its pin token too; null where the front door gives none. */
  readonly pin: string | null;
  readonly location: string;
};

/** What the front door says to this turn; nothing is sent to a region. @throws {Error} when it does not redirect */
export const askFrontDoor = async (frontUrl: string, client: Client, chat: Chat): Promise<Redirect> => {
  const answer = await request(`${frontUrl}/v1/chat/completions`, post(client, chat, `Bearer ${ENGINE_KEY}`));
  const said = await answer.body.text();
  if (answer.statusCode !== 307) throw new Error(`the front door answered ${answer.statusCode}: ${said}`);
  return {
    decision: headerOf(answer.headers, "x-gtm-decision"),
    verdict: headerOf(answer.headers, "x-gtm-verdict"),
    region: headerOf(answer.headers, "x-gtm-region"),
    pin: optionalHeaderOf(answer.headers, "x-gtm-pin"),
    location: headerOf(answer.headers, "location"),
  };
};

/** @throws {Error} when the front door does not redirect or the region does not answer: what was said is in the message */
export const takeTurn = async (frontUrl: string, client: Client, chat: Chat): Promise<Turn> => {
  const startedAtMs = performance.now();
  await sleep(FRONT_RTT_MS);
  const redirect = await askFrontDoor(frontUrl, client, chat);
  const to = placeOf(redirect.region);
  const trips = chat.region === redirect.region ? 1 : ROUND_TRIPS_NEW;
  await sleep(trips * greatCircleRttMs(client.place.location, to.location));
  // Clients drop the key on their way to another origin; what engines ask for comes by the redirect's ticket.
  const answer = await request(redirect.location, post(client, chat, null));
  if (answer.statusCode !== 200) {
    throw new Error(`${redirect.region} answered ${answer.statusCode}: ${await answer.body.text()}`);
  }
  return { ...redirect, ...(await readStream(answer.body, startedAtMs)) };
};

const post = (client: Client, chat: Chat, authorization: string | null) => ({
  method: "POST" as const,
  headers: {
    "content-type": "application/json",
    "x-forwarded-for": client.address,
    ...(authorization === null ? {} : { authorization }),
    "x-conversation-id": chat.id,
    // It speaks where neither memory nor the store knows the conversation.
    ...(chat.pin === null ? {} : { "x-gtm-pin": chat.pin }),
  },
  body: JSON.stringify({
    model: chat.model,
    messages: chat.messages,
    max_tokens: chat.maxTokens,
    stream: true,
    stream_options: { include_usage: true },
  }),
  dispatcher: connections,
});

type Headers = Record<string, string | string[] | undefined>;

const optionalHeaderOf = (headers: Headers, name: string): string | null => {
  const value = headers[name];
  return typeof value === "string" ? value : null;
};

const headerOf = (headers: Headers, name: string): string => {
  const value = optionalHeaderOf(headers, name);
  if (value === null) throw new Error(`the front door's answer has no ${name}`);
  return value;
};

type Streamed = Pick<Turn, "ttftMs" | "promptTokens" | "cachedTokens" | "answer">;
type Chunk = {
  readonly choices?: readonly { readonly delta?: { readonly content?: string } }[];
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly prompt_tokens_details?: { readonly cached_tokens?: number } | null;
  } | null;
};

/** Server-sent events: one JSON object a `data:` line, the usage in the last but one, `[DONE]` in the last. */
const readStream = async (body: AsyncIterable<Buffer>, startedAtMs: number): Promise<Streamed> => {
  let ttftMs: number | null = null;
  let usage: Chunk["usage"] = null;
  let answer = "";
  for await (const line of linesOf(body)) {
    if (!line.startsWith("data: ") || line === "data: [DONE]") continue;
    const chunk = JSON.parse(line.slice(6)) as Chunk;
    const text = chunk.choices?.[0]?.delta?.content ?? "";
    if (text !== "") ttftMs ??= performance.now() - startedAtMs;
    answer += text;
    usage = chunk.usage ?? usage;
  }
  if (ttftMs === null || usage === null || usage === undefined)
    throw new Error("the stream ended before its usage came");
  return {
    ttftMs,
    answer,
    promptTokens: usage.prompt_tokens,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
  };
};

async function* linesOf(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of body) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
