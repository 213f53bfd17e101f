/** Happenings as server-sent events: text that is made once, however many readers there are, and only if one of them is told. */
import type { Entry } from "#gtm/steering/ports.ts";
import type { EventHub, Happening } from "./event-hub.ts";
import type { RegionChange } from "./region-changes.ts";

/** HTML Living Standard §9.2: fields a line, an empty line ends the event. */
export const encodeEvent = (event: { id?: string; event: string; data: unknown }): string =>
  `${event.id === undefined ? "" : `id: ${event.id}\n`}event: ${event.event}\ndata: ${JSON.stringify(event.data)}\n\n`;

export type EventTexts = (happening: Happening) => string;

/** What is made is kept as long as the hub keeps the happening. */
export const createEventTexts = (hub: Pick<EventHub, "idOf">, viewOf: (entry: Entry) => unknown): EventTexts => {
  const made = new WeakMap<Happening, string>();
  return (happening) => {
    const before = made.get(happening);
    if (before !== undefined) return before;
    const data = dataOf(happening, viewOf);
    const text = encodeEvent({ id: hub.idOf(happening), event: happening.kind, data });
    made.set(happening, text);
    return text;
  };
};

type RegionEvent = { readonly at: string } & RegionChange;

const dataOf = (happening: Happening, viewOf: (entry: Entry) => unknown): unknown => {
  switch (happening.kind) {
    case "decision":
      return viewOf(happening.entry);
    case "region":
      return { at: new Date(happening.atMs).toISOString(), ...happening.change } satisfies RegionEvent;
    case "operation":
      return { at: new Date(happening.atMs).toISOString(), ...happening.operation };
  }
};
