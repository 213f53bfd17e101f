/** Channels of the memory store: who listens hears every message in order, later than the announcement, and harms nobody by throwing. */

export type MemoryChannels = {
  readonly announce: (channel: string, message: string) => void;
  readonly subscribe: (channel: string, onMessage: (message: string) => void) => () => void;
  readonly clear: () => void;
};

type Subscription = { readonly onMessage: (message: string) => void; isOpen: boolean };

export const createMemoryChannels = (onFault: (fault: unknown) => void): MemoryChannels => {
  const channels = new Map<string, Set<Subscription>>();

  const deliver = (subscription: Subscription, message: string): void => {
    if (!subscription.isOpen) return;
    try {
      subscription.onMessage(message);
    } catch (fault) {
      onFault(fault);
    }
  };

  return {
    announce: (channel, message) => {
      for (const subscription of channels.get(channel) ?? []) setImmediate(deliver, subscription, message);
    },
    subscribe: (channel, onMessage) => {
      const subscription: Subscription = { onMessage, isOpen: true };
      const subscriptions = channels.get(channel) ?? new Set<Subscription>();
      channels.set(channel, subscriptions.add(subscription));
      return () => {
        subscription.isOpen = false;
        subscriptions.delete(subscription);
        if (subscriptions.size === 0 && channels.get(channel) === subscriptions) channels.delete(channel);
      };
    },
    clear: () => {
      for (const subscriptions of channels.values()) {
        for (const subscription of subscriptions) subscription.isOpen = false;
      }
      channels.clear();
    },
  };
};
