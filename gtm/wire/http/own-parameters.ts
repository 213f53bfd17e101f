/** Parameters of ours in a redirect's query: put at its end, and never those that a client brought along. */
import { TICKET_PARAMETER } from "#shared/ticket.ts";

/** Names the conversation where there is no ticket; a pin token. */
export const PIN_PARAMETER = "gtm_c";

const OURS = [`${TICKET_PARAMETER}=`, `${PIN_PARAMETER}=`] as const;

/**
 * Path and query as the gateway will see them once it has taken our parameters away, octet by octet.
 *
 * @param pathAndQuery as received
 */
export const withoutOwnParameters = (pathAndQuery: string): string => {
  // What follows a hash never leaves a client.
  const [sent = ""] = pathAndQuery.split("#", 1);
  const mark = sent.indexOf("?");
  if (mark === -1) return sent;
  if (mark === sent.length - 1) return sent.slice(0, mark);
  if (!OURS.some((name) => sent.includes(name, mark))) return sent;
  const parts = sent.slice(mark + 1).split("&");
  const others = parts.filter((part) => !OURS.some((name) => part.startsWith(name)));
  return others.length === 0 ? sent.slice(0, mark) : `${sent.slice(0, mark)}?${others.join("&")}`;
};

/** @param value needs no escape */
export const withParameter = (pathAndQuery: string, name: string, value: string): string =>
  `${pathAndQuery}${pathAndQuery.includes("?") ? "&" : "?"}${name}=${value}`;
