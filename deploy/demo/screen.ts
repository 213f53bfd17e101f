/** What the demo prints: what to try, a line for every turn, the steps of the story. */
import { shownStoreUrl } from "#shared/store-url.ts";
import { MIXED_SITE } from "./engines.ts";
import { ENGINE_KEY, MODEL_ALIAS, PLACES, SECURE_SITE, SITES, ZONE } from "./places.ts";
import { SECURE_POOL } from "./settings.ts";
import type { GtmSeat, Stack } from "./stack.ts";
import type { TrafficEvent } from "./traffic.ts";

export type BannerFacts = {
  readonly stack: Pick<Stack, "gtms" | "regionPorts" | "authorityFile">;
  readonly token: string;
  /** Shown without its password; null: all in memory. */
  readonly redisUrl: string | null;
};

export const banner = ({ stack, token, redisUrl }: BannerFacts): string => {
  const { gtms, regionPorts, authorityFile } = stack;
  const [{ ports }] = gtms;
  const [frankfurt, , singapore] = PLACES;
  const near = frankfurt?.clients.replace("0/24", "9");
  const server = ports.admin === USUAL_ADMIN_PORT ? "" : ` --server ${adminUrl(gtms[0])}`;
  const dig = `dig +short @127.0.0.1 -p ${ports.dns}`;
  return `
llm-gtm demo: ${SITES.map(({ region, city, address }) => `${region} (${city}, ${address})`).join(", ")}
A gateway on port ${regionPorts.gateway} of each of them; the engines behind, on ${regionPorts.engine}, want the key ${ENGINE_KEY}.
Those of ${MIXED_SITE.region} speak as vLLM, SGLang (port ${regionPorts.engineSglang}) and llama.cpp (${regionPorts.engineLlamaCpp}), and one agent reads them.
${redisUrl === null ? "" : `${gtms.map(({ instance }) => instance).join(" and ")} are one by way of ${shownStoreUrl(redisUrl)}, where the agents report, too\n`}
${gtms.map((gtm) => addresses(gtm, gtms.length > 1)).join("\n")}
Where does DNS send a client in ${frankfurt?.city}, and one in ${singapore?.city}?

  ${dig} chat.${ZONE} A +subnet=${frankfurt?.clients}
  ${dig} chat.${ZONE} A +subnet=${singapore?.clients}
  ${dig} why.chat.${ZONE} TXT +subnet=${frankfurt?.clients}

Take a turn (twice: the second returns); -L follows the redirect and drops the key, which the redirect's ticket carries:

  curl -siL http://127.0.0.1:${ports.http}/v1/chat/completions -H 'authorization: Bearer ${ENGINE_KEY}' \\
    -H 'content-type: application/json' -H 'x-conversation-id: mine' -H 'x-forwarded-for: ${near}' \\
    -d '{"model":"${MODEL_ALIAS}","max_tokens":8,"messages":[{"role":"user","content":"Hello"}]}'
  curl -sL --resolve front.${ZONE}:${ports.http}:127.0.0.1 http://front.${ZONE}:${ports.http}/v1/models -H 'authorization: Bearer ${ENGINE_KEY}'

The pool ${SECURE_POOL} is served over TLS, in ${SECURE_SITE.city}, with a certificate made just now:

  ${dig} ${SECURE_POOL}.${ZONE} HTTPS
  curl -s --cacert ${authorityFile} --resolve ${SECURE_POOL}.${ZONE}:${regionPorts.gatewayTls}:${SECURE_SITE.address} \\
    https://${SECURE_POOL}.${ZONE}:${regionPorts.gatewayTls}/v1/models -H 'authorization: Bearer ${ENGINE_KEY}'

Ask why, and steer by hand (in another terminal):

  export GTM_TOKEN=${token}
  npm run -s gtm -- status${server}
  npm run -s gtm -- decisions tail${server}
  npm run -s gtm -- explain --pool chat --client ${near} --prompt-tokens 12000${server}
  npm run -s gtm -- drain eu-central --mode drain-all --comment "trying it" --yes${server}
  npm run -s gtm -- undrain eu-central --comment "tried" --yes${server}
${gtms[1] === undefined ? "" : otherGtm(gtms[1])}
Ctrl-C ends the demo.
`;
};

/** What the command line assumes. */
const USUAL_ADMIN_PORT = 9_443;

const adminUrl = ({ ports }: GtmSeat): string => `http://127.0.0.1:${ports.admin}`;

const addresses = (
  { instance, ports, frontUrl }: GtmSeat,
  isOneOfSome: boolean,
): string => `${isOneOfSome ? `${instance}\n` : ""}  DNS      127.0.0.1 and 127.0.0.2, port ${ports.dns}, zone ${ZONE}
  HTTP     ${frontUrl}/v1 (a base URL for any OpenAI or Anthropic client; the key is ${ENGINE_KEY})
  admin    http://127.0.0.1:${ports.admin}/api/v1
  metrics  http://127.0.0.1:${ports.metrics}/metrics
`;

const otherGtm = (gtm: GtmSeat): string => `
The other GTM answers alike: the same turn returns to the same region, and what was ordered of one stands at the other.
Stop Redis, or start it again empty: both go on, and say since when they are degraded.

  dig +short @127.0.0.1 -p ${gtm.ports.dns} chat.${ZONE} A +subnet=${PLACES[0]?.clients}
  npm run -s gtm -- status --server ${adminUrl(gtm)}
`;

/** @param isOneOfSome whether to say which GTM it was */
export const lineOf = (event: TrafficEvent, isOneOfSome: boolean): string => {
  const who = `${event.city.padEnd(10)} ${event.chat.padEnd(15)}`;
  if (event.kind === "failed") return `${who} failed: ${event.why}`;
  const { turn, at } = event;
  const ttft = `${Math.round(turn.ttftMs)} ms`.padStart(8);
  const cached = `${turn.cachedTokens} of ${turn.promptTokens} tokens cached`;
  const by = isOneOfSome ? ` ${event.instance} ` : "";
  return `${who} turn ${at} ${by} ${turn.verdict.padEnd(9)} ${turn.region.padEnd(12)} first token ${ttft}  ${cached}`;
};

export const stepLines = (number: number, title: string, seen: string, isGood: boolean, tookMs: number): string => {
  const mark = isGood ? "ok  " : "FAIL";
  const indented = seen.split("\n").map((line) => `      ${line}`);
  return [`${mark}  ${number}. ${title} (${(tookMs / 1_000).toFixed(1)} s)`, ...indented].join("\n");
};
