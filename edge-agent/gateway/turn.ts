/** What the gateway knows of a turn before an engine has seen it: of its ticket first, else of what the client says, else of its size. */
import type { IncomingHttpHeaders } from "node:http";
import { ModelId } from "#shared/ids.ts";
import type { TicketClaims } from "#shared/ticket.ts";
import { modelAsked } from "./asked-model.ts";
import type { Identified } from "./conversation.ts";
import type { Turn } from "./ports.ts";
import type { Body } from "./request-body.ts";

export type Known = {
  readonly headers: IncomingHttpHeaders;
  readonly identified: Identified;
  readonly claims: TicketClaims | null;
  readonly body: Extract<Body, { kind: "whole" | "passing" }>;
  readonly path: string;
  readonly clientPrefix: string | null;
  readonly rttMs: number | null;
  readonly receivedAtMs: number;
};

const OCTETS_PER_TOKEN = 4;

export const turnOf = (known: Known): Turn => {
  const { headers, identified, claims, path, clientPrefix, rttMs, receivedAtMs } = known;
  const octets = known.body.kind === "whole" ? known.body.octets : known.body.begun;
  const named = ModelId.safeParse(headers["x-gtm-model"]).data ?? null;
  return {
    model: claims?.model ?? named ?? modelAsked(octets, headers["content-type"]),
    conversation: identified.conversation,
    parent: claims?.parent ?? null,
    pool: identified.pool,
    tenantTag: claims?.tenantTag ?? null,
    promptTokens:
      claims?.promptTokens ?? numberIn(headers["x-input-tokens"]) ?? octetsOf(known, octets) / OCTETS_PER_TOKEN,
    outputTokens: claims?.outputTokens ?? numberIn(headers["x-gtm-expected-output-tokens"]),
    predictedTtftMs: claims?.predictedTtftMs ?? null,
    decision: claims?.decision ?? null,
    ...{ path, clientPrefix, rttMs, receivedAtMs },
  };
};

const octetsOf = ({ headers }: Known, octets: Buffer | null): number =>
  Math.max(numberIn(headers["content-length"]) ?? 0, octets?.length ?? 0);

/** null: absent, or no count. */
const numberIn = (text: string | string[] | undefined): number | null =>
  typeof text === "string" && /^\d{1,12}$/.test(text) ? Number(text) : null;
