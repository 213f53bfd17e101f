/** What engines answer and what an agent makes of it, without a socket. */

import { assemble } from "#edge-agent/assemble.ts";
import { type Endpoint, learn, newEndpoint } from "#edge-agent/endpoint.ts";
import { PLAIN } from "#edge-agent/engines/wording.ts";
import type { EngineAnswers, Fetched } from "#edge-agent/ports.ts";
import { readEngine } from "#edge-agent/read-answers.ts";
import type { ModelSettings } from "#edge-agent/replica-report.ts";
import { AgentId, RegionId } from "#shared/ids.ts";
import type { ModelReport, RegionReport } from "#shared/report.ts";
import { enginePayload, vllmPage } from "./vllm-page.ts";

export const ADDRESS = "10.0.0.5:8000";
export const EPOCH_MS = 1_796_011_200_000;

export const answered = (text: string, wish: Partial<Extract<Fetched, { kind: "answered" }>> = {}): Fetched => ({
  kind: "answered",
  status: 200,
  contentType: "text/plain; version=0.0.4",
  octets: Buffer.from(text),
  ...wish,
});
export const failed = (code: Extract<Fetched, { kind: "failed" }>["code"]): Fetched => ({ kind: "failed", code });

/** A healthy engine with an unremarkable page, unless the test says otherwise. */
export const answers = (
  atMs: number,
  wish: Partial<Omit<EngineAnswers, "atMs" | "atEpochMs">> = {},
): EngineAnswers => ({
  metrics: answered(vllmPage()),
  models: answered(enginePayload("vllm-v1-models.json"), { contentType: "application/json" }),
  health: answered(""),
  further: new Map(),
  faults: [],
  ...wish,
  atMs,
  atEpochMs: EPOCH_MS + atMs,
});

/** What is known of one address after these answers. */
export const heard = (all: readonly EngineAnswers[], wish = "auto", address = ADDRESS): Endpoint =>
  all.reduce((known, one) => learn(known, readEngine(one, known, { ...PLAIN, wish })), newEndpoint(address));

export const reportOf = (
  endpoints: readonly Endpoint[],
  settings: Readonly<Record<string, Partial<ModelSettings>>> = {},
): RegionReport =>
  assemble(
    { region: RegionId.parse("eu-central"), agent: AgentId.parse("a1"), boot: "b1" },
    { seq: 1, reportedAtMs: EPOCH_MS, endpoints, gpus: null, claims: new Map(), faults: [] },
    new Map(
      Object.entries(settings).map(([model, wish]) => [
        model,
        { weightBytes: null, coldStartMs: null, prefillTokensPerSecond: null, kvCapacityTokens: null, ...wish },
      ]),
    ),
  );

export const onlyModelOf = (report: RegionReport): ModelReport => {
  const [model, ...others] = report.models;
  if (model === undefined || others.length > 0) throw new Error(`expected one model, found ${report.models.length}`);
  return model;
};

export const codesIn = (report: RegionReport, field: string): readonly string[] =>
  report.faults.filter((fault) => fault.field === field).map(({ code }) => code);
