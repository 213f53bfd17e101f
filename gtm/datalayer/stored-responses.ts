/** Where stored responses lie: the region whose gateway saw the reply, and the conversation that it is a turn of. */
import { LRUCache } from "lru-cache";
import { withinDeadline } from "#shared/deadline.ts";
import { OperationalError } from "#shared/errors.ts";
import type { ConversationId, RegionId } from "#shared/ids.ts";
import { responseKey } from "#shared/keys.ts";
import type { Metrics } from "#shared/metrics.ts";
import { ResponseRecord } from "#shared/records.ts";
import type { Store, Stored } from "#shared/store.ts";
import { STORE_AWAY, type StoreFailures } from "./store-failures.ts";

export type StoredResponse = {
  readonly region: RegionId;
  /** null: the gateway did not know which conversation it served. */
  readonly conversation: ConversationId | null;
};

export type StoredResponses = {
  /**
   * @param response `labels.conversationIdOf("response", id)`
   * @param deadlineMs how long the store may take
   * @returns null: no gateway told of it, or the store is slow or away, which is counted and warned of
   */
  readonly find: (response: ConversationId, deadlineMs: number) => Promise<StoredResponse | null>;
};

export type StoredResponsesOptions = {
  readonly store: Pick<Store, "get" | "isUp">;
  readonly metrics: Metrics;
  readonly failures: StoreFailures;
  /** Every configured region, read anew each time; what lies in another one lies nowhere. */
  readonly regions: readonly RegionId[];
};

/** A response never moves, so what was found stays true; about 200 octets each. */
const MOST_KNOWN = 10_000;

export const createStoredResponses = (options: StoredResponsesOptions): StoredResponses => {
  const { store, failures } = options;
  const known = new LRUCache<ConversationId, StoredResponse>({ max: MOST_KNOWN });
  const lookups = options.metrics.counter({
    name: "gtm_stored_response_lookups_total",
    help: "Stored responses that requests continue: cached, found, absent, late (the deadline passed) or failed.",
    labels: ["outcome"],
  });
  const failed = (outcome: "late" | "failed", cause: unknown): null => {
    lookups.inc({ outcome });
    failures("response.find", cause);
    return null;
  };
  const settled = (response: ConversationId, stored: Stored | null): StoredResponse | null => {
    const found = stored === null ? null : recordIn(stored);
    if (found === null && stored !== null) {
      return failed("failed", new OperationalError("GTM_RECORD_REFUSED", `${responseKey(response)} is no record`));
    }
    const isHere = found !== null && options.regions.includes(found.region);
    lookups.inc({ outcome: isHere ? "found" : "absent" });
    if (!isHere) return null;
    known.set(response, found);
    return found;
  };

  return {
    find: async (response, deadlineMs) => {
      const cached = known.get(response);
      if (cached !== undefined && options.regions.includes(cached.region)) {
        lookups.inc({ outcome: "cached" });
        return cached;
      }
      if (!store.isUp()) return failed("failed", STORE_AWAY);
      const answer = await withinDeadline(store.get(responseKey(response)), deadlineMs);
      switch (answer.kind) {
        case "done":
          return settled(response, answer.value);
        case "late":
          return failed("late", new OperationalError("GTM_STORE_UNREACHABLE", `no answer within ${deadlineMs} ms`));
        case "failed":
          return failed("failed", answer.cause);
      }
    },
  };
};

const recordIn = ({ value }: Stored): StoredResponse | null => {
  try {
    const { data } = ResponseRecord.safeParse(JSON.parse(value));
    return data === undefined ? null : { region: data.region, conversation: data.conversation };
  } catch {
    return null;
  }
};
