/** What the demo prints: what to try, a line for every turn, the steps of the story. */
import { MODEL_ALIAS, PLACES, type Ports, ZONE } from "./places.ts";
import type { TrafficEvent } from "./traffic.ts";

export const banner = (ports: Ports, token: string): string => {
  const [frankfurt, , singapore] = PLACES;
  const offset = ports.http - 8_080;
  const server = offset === 0 ? "" : ` --server http://127.0.0.1:${ports.admin}`;
  return `
llm-gtm demo: ${PLACES.map(({ region, city, address }) => `${region} (${city}, ${address}:${ports.engine})`).join(", ")}

  DNS      127.0.0.1 and 127.0.0.2, port ${ports.dns}, zone ${ZONE}
  HTTP     http://127.0.0.1:${ports.http}/v1 (a base URL for any OpenAI client; any key)
  admin    http://127.0.0.1:${ports.admin}/api/v1
  metrics  http://127.0.0.1:${ports.metrics}/metrics

Where does DNS send a client in ${frankfurt?.city}, and one in ${singapore?.city}?

  dig +short @127.0.0.1 -p ${ports.dns} chat.${ZONE} A +subnet=${frankfurt?.clients}
  dig +short @127.0.0.1 -p ${ports.dns} chat.${ZONE} A +subnet=${singapore?.clients}
  dig +short @127.0.0.1 -p ${ports.dns} why.chat.${ZONE} TXT +subnet=${frankfurt?.clients}

Take a turn (twice: the second returns); -L follows the redirect to the engine:

  curl -siL http://127.0.0.1:${ports.http}/v1/chat/completions -H 'content-type: application/json' \\
    -H 'x-conversation-id: mine' -H 'x-forwarded-for: ${frankfurt?.clients.replace("0/24", "9")}' \\
    -d '{"model":"${MODEL_ALIAS}","max_tokens":8,"messages":[{"role":"user","content":"Hello"}]}'
  curl -sL --resolve front.${ZONE}:${ports.http}:127.0.0.1 http://front.${ZONE}:${ports.http}/v1/models

Ask why, and steer by hand (in another terminal):

  export GTM_TOKEN=${token}
  npm run -s gtm -- status${server}
  npm run -s gtm -- decisions tail${server}
  npm run -s gtm -- explain --pool chat --client ${frankfurt?.clients.replace("0/24", "9")} --prompt-tokens 12000${server}
  npm run -s gtm -- drain eu-central --mode drain-all --comment "trying it" --yes${server}
  npm run -s gtm -- undrain eu-central --comment "tried" --yes${server}

Ctrl-C ends the demo.
`;
};

export const lineOf = (event: TrafficEvent): string => {
  const who = `${event.city.padEnd(10)} ${event.chat.padEnd(15)}`;
  if (event.kind === "failed") return `${who} failed: ${event.why}`;
  const { turn, at } = event;
  const ttft = `${Math.round(turn.ttftMs)} ms`.padStart(8);
  const cached = `${turn.cachedTokens} of ${turn.promptTokens} tokens cached`;
  return `${who} turn ${at}  ${turn.verdict.padEnd(9)} ${turn.region.padEnd(12)} first token ${ttft}  ${cached}`;
};

export const stepLines = (number: number, title: string, seen: string, isGood: boolean, tookMs: number): string => {
  const mark = isGood ? "ok  " : "FAIL";
  const indented = seen.split("\n").map((line) => `      ${line}`);
  return [`${mark}  ${number}. ${title} (${(tookMs / 1_000).toFixed(1)} s)`, ...indented].join("\n");
};
