/** Parameters of ours in a query, taken out so that the engine sees what the client wrote, octet by octet. */

export type Taken = {
  readonly pathAndQuery: string;
  /** The first, as it is written: what we put there needs no escape. null: there is none. */
  readonly value: string | null;
};

/** @param name needs no escape; each parameter of this name is taken out */
export const takeParameter = (pathAndQuery: string, name: string): Taken => {
  const mark = pathAndQuery.indexOf("?");
  if (mark === -1 || !pathAndQuery.includes(`${name}=`, mark)) return { pathAndQuery, value: null };
  const parts = pathAndQuery.slice(mark + 1).split("&");
  const own = parts.filter((part) => part.startsWith(`${name}=`));
  if (own.length === 0) return { pathAndQuery, value: null };
  const others = parts.filter((part) => !part.startsWith(`${name}=`));
  const query = others.length === 0 ? "" : `?${others.join("&")}`;
  return { pathAndQuery: pathAndQuery.slice(0, mark) + query, value: own[0]?.slice(name.length + 1) ?? null };
};
