/** The admin API, as far as the demo asks it: how a GTM is, regions, conversations, decisions, orders. */
import { request } from "undici";
import type { DecisionView } from "#gtm/steering/decision-view.ts";
import type { ConversationView } from "#gtm/wire/admin/conversation-view.ts";
import type { RegionView } from "#gtm/wire/admin/region-view.ts";
import type { Status } from "#gtm/wire/admin/routes/status.ts";

export type AdminApi = {
  readonly status: () => Promise<Status>;
  readonly regions: () => Promise<readonly RegionView[]>;
  readonly region: (id: string) => Promise<RegionView>;
  readonly decision: (id: string) => Promise<DecisionView>;
  /** @param name a label or an id */
  readonly conversation: (name: string) => Promise<ConversationView>;
  readonly drainAll: (region: string, comment: string) => Promise<void>;
  readonly undrain: (region: string, comment: string) => Promise<void>;
};

/** The API answered, and would not do it. */
export class AdminRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "AdminRefusal";
    this.status = status;
  }
}

/** Every call rejects with an AdminRefusal that quotes the API's answer, or with what the connection failed with. */
export const adminApi = (url: string, token: string): AdminApi => {
  const ask = async (method: "GET" | "POST", path: string, body: object | null): Promise<unknown> => {
    const answer = await request(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body === null ? {} : { "content-type": "application/json" }) },
      body: body === null ? null : JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode < 300) return JSON.parse(text);
    throw new AdminRefusal(answer.statusCode, `${method} ${path} answered ${answer.statusCode}: ${detailIn(text)}`);
  };
  return {
    status: async () => (await ask("GET", "/status", null)) as Status,
    regions: async () => ((await ask("GET", "/regions", null)) as { readonly items: readonly RegionView[] }).items,
    region: async (id) => (await ask("GET", `/regions/${id}`, null)) as RegionView,
    decision: async (id) => (await ask("GET", `/decisions/${id}`, null)) as DecisionView,
    conversation: async (name) => (await ask("GET", `/conversations/${name}`, null)) as ConversationView,
    drainAll: async (region, comment) => {
      await ask("POST", `/regions/${region}/drain`, { mode: "drain-all", comment });
    },
    undrain: async (region, comment) => {
      await ask("POST", `/regions/${region}/undrain`, { comment });
    },
  };
};

/** Of a problem its sentences for people; anything else as it came. */
const detailIn = (text: string): string => {
  try {
    const { title, detail } = JSON.parse(text) as { readonly title?: unknown; readonly detail?: unknown };
    return typeof title === "string" && typeof detail === "string" ? `${title}. ${detail}` : text;
  } catch {
    return text;
  }
};
