/** A record that the zone's owner keeps in the zone: the same for everybody, whatever the regions do. */

export type RecordValue =
  | { readonly type: "A" | "AAAA"; readonly address: string }
  | { readonly type: "CNAME"; readonly target: string }
  /** One string or several, each of any length: on the wire one of more than 255 octets is several. */
  | { readonly type: "TXT"; readonly texts: readonly string[] }
  /** Preference 0 to 65 535, the least first; exchange ".": the name takes no mail (RFC 7505). */
  | { readonly type: "MX"; readonly preference: number; readonly exchange: string }
  /** Who may issue certificates (RFC 8659). Flags 0 to 255; 128: critical. */
  | { readonly type: "CAA"; readonly flags: number; readonly tag: string; readonly value: string }
  /** Numbers 0 to 65 535; target ".": the service is not to be had here (RFC 2782). */
  | {
      readonly type: "SRV";
      readonly priority: number;
      readonly weight: number;
      readonly port: number;
      readonly target: string;
    }
  /** Gives the name and all below it to another server. */
  | { readonly type: "NS"; readonly host: string };

export type ZoneRecord = {
  /** Lower case, whole, without the trailing dot; its first label may be `*` (RFC 4592). */
  readonly name: string;
  readonly ttlSeconds: number;
  readonly value: RecordValue;
};

/** The name that a record points to; null: it points to none. */
export const targetOf = (value: RecordValue): string | null => {
  switch (value.type) {
    case "CNAME":
    case "SRV":
      return value.target;
    case "MX":
      return value.exchange;
    case "NS":
      return value.host;
    case "A":
    case "AAAA":
    case "TXT":
    case "CAA":
      return null;
  }
};

/** Names that are given to other servers, each the highest of its branch. */
export const cutsOf = (records: readonly ZoneRecord[]): ReadonlySet<string> => {
  const given = new Set(records.filter(({ value }) => value.type === "NS").map(({ name }) => name));
  return new Set([...given].filter((name) => cutAbove(name, given) === null));
};

/** The cut that a name lies below, not counting itself; null: none. */
export const cutAbove = (name: string, cuts: ReadonlySet<string>): string | null => {
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
    const parent = name.slice(dot + 1);
    if (cuts.has(parent)) return parent;
  }
  return null;
};
