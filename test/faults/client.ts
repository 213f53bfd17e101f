/** Asks one GTM one thing, as a client or its resolver does, and notes what came of it; nothing here throws. */
import { Agent, request } from "undici";
import { openUdp, queryOctets, readReply } from "#test/support/dns-client.ts";
import { SIMULATED_ALIAS } from "#test/support/engine-simulators.ts";
import type { GtmProcess } from "./gtm-process.ts";
import type { Told } from "./history.ts";
import { PATIENCE_MS } from "./invariants.ts";
import { PLACES, ZONE } from "./settings.ts";

export type Turn = {
  readonly conversation: string;
  /** How it names itself: by a name of its own, by the token it was given, or by the host that it was given. */
  readonly by: { readonly name: string } | { readonly token: string } | { readonly label: string };
  /** Its address. */
  readonly from: string;
  readonly promptTokens: number;
};

/** @returns `token`: the pin that came with the answer; null: none did */
export type TakeTurn = (gtm: GtmProcess, turn: Turn) => Promise<{ readonly told: Told; readonly token: string | null }>;

const OUTPUT_TOKENS = 50;
const BODY = JSON.stringify({ model: SIMULATED_ALIAS, max_tokens: OUTPUT_TOKENS, messages: [] });

export type Client = AsyncDisposable & {
  readonly takeTurn: TakeTurn;
  /** @param conversation whose label the name holds; null: a pool's name, or a stranger's label */
  readonly lookUp: (gtm: GtmProcess, name: string, conversation: string | null) => Promise<Told>;
};

export const openClient = (): Client => {
  const connections = new Agent({ connections: 16, headersTimeout: PATIENCE_MS, connect: { timeout: PATIENCE_MS } });

  const takeTurn: TakeTurn = async (gtm, { conversation, by, from, promptTokens }) => {
    const askedAtMs = performance.now();
    const toldOf = (outcome: string, region: string | null, verdict: string | null): Told => ({
      ...{ askedAtMs, atMs: performance.now(), gtm: gtm.name, wire: "http", conversation, outcome, region, verdict },
    });
    try {
      const { statusCode, headers, body } = await request(`${gtm.origin}/v1/chat/completions`, {
        method: "POST",
        dispatcher: connections,
        headers: {
          "content-type": "application/json",
          host: "label" in by ? `${by.label}.c.${ZONE}` : `front.${ZONE}`,
          "x-forwarded-for": from,
          "x-input-tokens": String(promptTokens),
          ...("name" in by ? { "x-conversation-id": by.name } : {}),
          ...("token" in by ? { "x-gtm-pin": by.token } : {}),
        },
        body: BODY,
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      await body.dump();
      const told = toldOf(String(statusCode), textOf(headers["x-gtm-region"]), textOf(headers["x-gtm-verdict"]));
      return { told, token: textOf(headers["x-gtm-pin"]) };
    } catch (fault) {
      return { told: toldOf(String(fault), null, null), token: null };
    }
  };

  const lookUp: Client["lookUp"] = async (gtm, name, conversation) => {
    const askedAtMs = performance.now();
    await using udp = await openUdp(gtm.dns);
    const late = Promise.withResolvers<null>();
    const timer = setTimeout(late.resolve, PATIENCE_MS, null);
    const octets = await Promise.race([udp.ask(queryOctets({ name, opt: {} })), late.promise]);
    clearTimeout(timer);
    const packet = octets === null ? null : readReply(octets);
    const place = PLACES.find(({ address }) => address === packet?.data[0]);
    return {
      ...{ askedAtMs, atMs: performance.now(), gtm: gtm.name, wire: "dns", conversation, verdict: null },
      outcome: packet?.packet.rcode ?? "no answer",
      region: place?.id ?? null,
    };
  };
  return { takeTurn, lookUp, [Symbol.asyncDispose]: () => connections.destroy() };
};

const textOf = (value: string | string[] | undefined): string | null => (typeof value === "string" ? value : null);
