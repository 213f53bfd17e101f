/** The operators' orders as they stand in the store. */
import { ordersKey } from "#shared/keys.ts";
import { OrdersRecord } from "#shared/records.ts";
import type { Store } from "#shared/store.ts";

export type OrdersFacts =
  | { readonly kind: "absent" }
  | { readonly kind: "found"; readonly rev: number; readonly regions: number; readonly overrides: number }
  | { readonly kind: "refused"; readonly detail: string }
  | { readonly kind: "unknown"; readonly why: string };

/** Never rejects because the store is away. */
export const readOrdersFacts = async (store: Store): Promise<OrdersFacts> => {
  try {
    const stored = await store.get(ordersKey());
    return stored === null ? { kind: "absent" } : factsIn(stored.value);
  } catch (fault) {
    return { kind: "unknown", why: fault instanceof Error ? fault.message : String(fault) };
  }
};

const factsIn = (text: string): OrdersFacts => {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return { kind: "refused", detail: "it is no JSON" };
  }
  const parsed = OrdersRecord.safeParse(raw);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { kind: "refused", detail: `${issue?.path.map(String).join(".")}: ${issue?.message}` };
  }
  const { rev, regions, overrides } = parsed.data;
  return { kind: "found", rev, regions: regions.length, overrides: overrides.length };
};
