/** Whether a request's head already says which conversation it belongs to, so that nobody need look for it in the body. */
import type { IdentitySource } from "#gtm/domain/identity-source.ts";
import type { Arrival } from "./arrival.ts";
import { headerIn } from "./headers.ts";
import { nameFrom, PIN_HEADER, type Said } from "./identity-source.ts";
import { stateIn } from "./state.ts";

type Head = Pick<Said, "headers"> & Pick<Arrival, "target" | "hostLabel">;

/** @param order of the sources; those of the body, and what is stored, may come before a header */
export const isNamedByHead = (order: readonly IdentitySource[], head: Head): boolean => {
  const said: Said = { headers: head.headers, query: head.target.query, isBodyRead: false, scanned: null };
  for (const source of order) {
    const says = saysIn(source, head, said);
    if (says !== "nothing") return says === "name";
  }
  return false;
};

const saysIn = (
  source: IdentitySource,
  { headers, target, hostLabel }: Head,
  said: Said,
): "name" | "unread" | "nothing" => {
  if (source === "pin-token") return headerIn(headers, PIN_HEADER) === null ? "nothing" : "name";
  if (source === "host-label") return hostLabel === null ? "nothing" : "name";
  if (source === "state") return stateIn(target.path, said) === null ? "nothing" : "unread";
  const name = nameFrom(source, said);
  if (name === "unread") return "unread";
  return name === null || name === "too-long" ? "nothing" : "name";
};
