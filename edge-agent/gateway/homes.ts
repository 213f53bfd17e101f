/** Where the ledger says that a conversation lives: asked while its turn is under way, never waited for. */
import type { ConversationId, RegionId } from "#shared/ids.ts";
import { conversationKey } from "#shared/keys.ts";
import type { Metrics } from "#shared/metrics.ts";
import { ConversationRecord } from "#shared/packed-conversation.ts";
import type { Store } from "#shared/store.ts";

/** null: not known, or not yet. */
export type Home = () => RegionId | null;

/** At once; more are not asked for. */
const MOST_ASKED = 256;
const UNKNOWN: Home = () => null;

/** A store that is away costs the answer's `Connection: close`, and nothing else; it is counted. */
export const createHomes = (store: Store, metrics: Metrics): ((conversation: ConversationId) => Home) => {
  const unknown = metrics.counter({
    name: "gtm_gateway_homes_unknown_total",
    help: "Turns by label whose conversation's home was not looked up, since the store did not answer or too many asked.",
  });
  unknown.inc({}, 0);
  let asked = 0;
  return (conversation) => {
    if (!store.isUp() || asked >= MOST_ASKED) {
      unknown.inc();
      return UNKNOWN;
    }
    let home: RegionId | null = null;
    asked += 1;
    store
      .get(conversationKey(conversation))
      .then(
        (stored) => {
          home = stored === null ? null : homeIn(stored.value);
        },
        () => unknown.inc(),
      )
      .finally(() => {
        asked -= 1;
      });
    return () => home;
  };
};

/** The newest holding is home. null: a record that is none; its reader, the GTM, says so. */
const homeIn = (text: string): RegionId | null => {
  try {
    return ConversationRecord.safeParse(JSON.parse(text)).data?.h[0]?.[0] ?? null;
  } catch {
    return null;
  }
};
