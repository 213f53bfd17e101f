/** The admin API, as far as the demo asks it: regions, decisions, orders. */
import { request } from "undici";
import type { DecisionView } from "#gtm/steering/decision-view.ts";
import type { RegionView } from "#gtm/wire/admin/region-view.ts";

export type AdminApi = {
  readonly regions: () => Promise<readonly RegionView[]>;
  readonly region: (id: string) => Promise<RegionView>;
  readonly decision: (id: string) => Promise<DecisionView>;
  readonly drainAll: (region: string, comment: string) => Promise<void>;
  readonly undrain: (region: string, comment: string) => Promise<void>;
};

/** Every call rejects with an Error that quotes the API's answer. */
export const adminApi = (url: string, token: string): AdminApi => {
  const ask = async (method: "GET" | "POST", path: string, body: object | null): Promise<unknown> => {
    const answer = await request(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body === null ? {} : { "content-type": "application/json" }) },
      body: body === null ? null : JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`);
    return JSON.parse(text);
  };
  return {
    regions: async () => ((await ask("GET", "/regions", null)) as { readonly items: readonly RegionView[] }).items,
    region: async (id) => (await ask("GET", `/regions/${id}`, null)) as RegionView,
    decision: async (id) => (await ask("GET", `/decisions/${id}`, null)) as DecisionView,
    drainAll: async (region, comment) => {
      await ask("POST", `/regions/${region}/drain`, { mode: "drain-all", comment });
    },
    undrain: async (region, comment) => {
      await ask("POST", `/regions/${region}/undrain`, { comment });
    },
  };
};
