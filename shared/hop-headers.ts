/** Which headers go on when a request or an answer is forwarded: all but those of one connection (RFC 9110 §7.6.1). */

/** Names and values in turn, as Node's `rawHeaders` has them. */
export type RawHeaders = readonly string[];

/** `trailer` says what comes after the body and goes on; `te` and `expect` are between neighbours. */
const OF_ONE_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "proxy-connection",
  "keep-alive",
  "transfer-encoding",
  "te",
  "upgrade",
  "expect",
  "http2-settings",
  "proxy-authenticate",
  "proxy-authorization",
]);

/**
 * Names that `Connection` lists are left out too, whatever they are: else a sender could have a header of ours removed
 * further on, or smuggle one through.
 *
 * @param without further names, in lower case, such as `host` where the next host is another
 * @returns names as they were written, in their order; pseudo-headers of HTTP/2 are left out
 */
export const forwardedHeaders = (raw: RawHeaders, without: ReadonlySet<string>): string[] => {
  const listed = listedByConnection(raw);
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? "";
    const lower = name.toLowerCase();
    if (OF_ONE_CONNECTION.has(lower) || without.has(lower) || listed?.has(lower) === true || lower[0] === ":") continue;
    kept.push(name, raw[at + 1] ?? "");
  }
  return kept;
};

/** null: it lists nothing but what is left out anyway. */
const listedByConnection = (raw: RawHeaders): ReadonlySet<string> | null => {
  let listed: Set<string> | null = null;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if (raw[at]?.length !== CONNECTION.length || raw[at]?.toLowerCase() !== CONNECTION) continue;
    for (const option of (raw[at + 1] ?? "").split(",")) {
      const name = option.trim().toLowerCase();
      if (name === "" || name === "close" || OF_ONE_CONNECTION.has(name)) continue;
      listed ??= new Set();
      listed.add(name);
    }
  }
  return listed;
};

const CONNECTION = "connection";

/** @returns the first value; null: there is none. @param name in lower case */
export const rawHeader = (raw: RawHeaders, name: string): string | null => {
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if (raw[at]?.length === name.length && raw[at]?.toLowerCase() === name) return raw[at + 1] ?? "";
  }
  return null;
};

/** Undici's, as octets: latin1, as Node reads and writes header values. */
export const rawTextOf = (octets: readonly (Buffer | string)[]): string[] =>
  octets.map((part) => (typeof part === "string" ? part : part.toString("latin1")));
