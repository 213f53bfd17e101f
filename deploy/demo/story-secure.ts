/** The story's step at the pool served over TLS: the first turn is told where to go on, and the key goes along by itself. */
import { Resolver } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { Agent, type Dispatcher, request } from "undici";
import { expect, seconds } from "./expectation.ts";
import { lookupOf } from "./lookup.ts";
import { ENGINE_KEY, MODEL, SECURE_SITE, ZONE } from "./places.ts";
import { prose } from "./prose.ts";
import { SECURE_POOL } from "./settings.ts";
import type { Stage, Step } from "./stage.ts";

const FIRST_PROMPT_TOKENS = 4_000;

/** Needs no conversation of the steps before. */
export const secureStep = ({ stack, first }: Stage): Step => ({
  title: "in the pool served over TLS the next turn goes straight to the conversation's own name, with its key",
  tell: async () => {
    const resolver = new Resolver({ timeout: 1_000, tries: 2 });
    resolver.setServers([first.dnsServer]);
    const ca = readFileSync(stack.authorityFile, "utf8");
    // As any client does: the name is resolved, here by the demo's own DNS, and the certificate must be for it.
    const connections = new Agent({ connect: { ca, lookup: lookupOf((host) => resolver.resolve4(host)) } });
    try {
      return await takeTurns(`${first.frontUrl}/v1`, connections);
    } finally {
      await connections.destroy();
    }
  },
});

type Completion = {
  readonly choices: readonly [{ readonly message: object }];
  readonly usage: {
    readonly prompt_tokens: number;
    readonly prompt_tokens_details: { readonly cached_tokens: number };
  };
};

const takeTurns = async (frontUrl: string, connections: Dispatcher): Promise<string> => {
  const name = `secure-${Date.now().toString(36)}`;
  const messages: object[] = [{ role: "user", content: prose(FIRST_PROMPT_TOKENS, name) }];
  const ask = (base: string, headers: Record<string, string>) =>
    request(`${base}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${ENGINE_KEY}`, ...headers },
      body: JSON.stringify({ model: MODEL, max_tokens: 8, messages }),
      dispatcher: connections,
    });

  const front = await ask(frontUrl, { host: `${SECURE_POOL}.front.${ZONE}`, "x-conversation-id": name });
  await front.body.dump();
  const base = String(front.headers["x-gtm-pinned-base-url"]);
  expect(front.statusCode === 307 && base.startsWith("https:"), `the front door answered ${front.statusCode}, ${base}`);
  const told = [`${base.replace(/p1[a-z0-9]{40}/, "p1…")} leads to ${SECURE_SITE.region}`];
  for (const leastCached of [0, FIRST_PROMPT_TOKENS * 0.9]) {
    const startedAtMs = performance.now();
    const { statusCode, body } = await ask(base, {});
    const said = await body.text();
    expect(statusCode === 200, `${base} answered ${statusCode}: ${said}`);
    const { choices, usage } = JSON.parse(said) as Completion;
    const cached = usage.prompt_tokens_details.cached_tokens;
    expect(cached >= leastCached, `only ${cached} tokens were cached`);
    const took = seconds(performance.now() - startedAtMs);
    told.push(`answered after ${took}, ${cached} of ${usage.prompt_tokens} tokens from cache`);
    messages.push(choices[0].message, { role: "user", content: "And then?" });
  }
  return told.join("\n");
};
