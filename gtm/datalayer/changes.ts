/** The channel on which GTMs tell each other that a key has a new revision. */
import { changedChannel } from "#shared/keys.ts";
import { ChangedMessage } from "#shared/records.ts";
import type { Store } from "#shared/store.ts";

/** @param rev 0: the key is gone. @throws {OperationalError} the store did not answer */
export const announceChange = (store: Store, key: string, rev: number): Promise<void> =>
  store.announce(changedChannel(), JSON.stringify({ key, rev } satisfies ChangedMessage));

/** A message that is none is somebody else's; whoever missed one finds out within 2 s. @returns a function that ends the subscription */
export const subscribeToChanges = (store: Store, onChange: (change: ChangedMessage) => void): Promise<() => void> =>
  store.subscribe(changedChannel(), (message) => {
    const change = parseChange(message);
    if (change !== null) onChange(change);
  });

const parseChange = (message: string): ChangedMessage | null => {
  try {
    return ChangedMessage.safeParse(JSON.parse(message)).data ?? null;
  } catch {
    return null;
  }
};
