/** What tests and the demo's story do to a simulator, beside talking to it. */
import type { ServerResponse } from "node:http";
import { z } from "zod";
import type { EngineLife } from "./engine-life.ts";
import type { JsonBody } from "./json-body.ts";
import { ModeChange, type Modes } from "./modes.ts";
import { apiError } from "./openai-error.ts";
import { sendJson } from "./send-json.ts";

/** More would only make a queue that nobody waits for. */
const MOST_FILLERS = 10_000;

const Hold = z.strictObject({
  /** Fillers kept waiting in the queue; 0 stops. */
  waiting: z.int().min(0).max(MOST_FILLERS),
  /** Absent or "all": in each replica's. */
  replica: z.union([z.int().min(0), z.literal("all")]).optional(),
});

export const hold = (response: ServerResponse, body: JsonBody, life: EngineLife): void => {
  const wish = parsed(response, body, Hold);
  if (wish === null) return;
  const replica = typeof wish.replica === "number" ? wish.replica : null;
  const replicas = life.room.region.replicas.length;
  if (replica !== null && replica >= replicas) {
    const refusal = apiError(400, `there are ${replicas} replicas, counted from 0; no ${replica}`, "replica");
    sendJson(response, refusal.status, refusal.body);
  } else {
    life.fillers.hold(wish.waiting, replica);
    sendJson(response, 200, { waiting: life.fillers.wanted() });
  }
};

export type ModeActs = {
  readonly modes: Modes;
  readonly forgetContexts: () => void;
  /** Called once the answer is out. */
  readonly restart: () => void;
};

export const changeModes = (response: ServerResponse, body: JsonBody, acts: ModeActs): void => {
  const change = parsed(response, body, ModeChange);
  if (change === null) return;
  const { restart, ...flags } = change;
  for (const [mode, isOn] of Object.entries(flags)) if (isOn !== undefined) acts.modes[mode as keyof Modes] = isOn;
  if (flags.sleep === true) acts.forgetContexts();
  if (restart === true) response.on("close", acts.restart).setHeader("connection", "close");
  sendJson(response, 200, acts.modes);
};

export const stateOf = (life: EngineLife, modes: Modes) => ({
  startedAtMs: life.startedAtMs,
  modes,
  replicas: life.engines().map(({ state }, at) => ({
    ...state,
    uncachedTokensWaiting: life.room.region.replicas[at]?.uncachedTokensWaiting() ?? 0,
    backlogMs: life.room.region.replicas[at]?.backlogMs() ?? 0,
    held: life.fillers.wanted()[at] ?? 0,
  })),
});

const parsed = <T>(response: ServerResponse, body: JsonBody, schema: z.ZodType<T>): T | null => {
  if (body.kind === "error") {
    sendJson(response, body.status, body.body);
    return null;
  }
  const result = schema.safeParse(body.value);
  if (result.success) return result.data;
  const refusal = apiError(400, z.prettifyError(result.error));
  sendJson(response, refusal.status, refusal.body);
  return null;
};
