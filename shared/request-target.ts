/** What a request line names: never normalised, since the answer must repeat path and query octet by octet. */

export type RequestTarget = {
  /** Lower case, without port and final dot; null: HTTP/1.0 without Host. */
  readonly host: string | null;
  /** Path, query and whatever follows, as received; begins with a slash. */
  readonly pathAndQuery: string;
  /** As received. */
  readonly path: string;
  /** Without the question mark; "" where there is none. */
  readonly query: string;
};

/** What may stand in a request line, and then in a header: Node's parser sees to it, and this does not rely on that. */
const VISIBLE = /^[\x21-\x7e]+$/;
/** RFC 9112 §3.2.2: a server must accept it, and ignore Host then. */
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)/i;
/** RFC 9110 §4.2.4: no user information. */
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{0,5})?$/i;

/**
 * @param url as Node gives it: the request line's own text
 * @param host the Host header; undefined: there is none
 * @returns null when it is malformed (400)
 */
export const requestTarget = (url: string, host: string | undefined): RequestTarget | null => {
  if (!VISIBLE.test(url)) return null;
  if (url.startsWith("/")) return targetOf(host, url);
  const absolute = ABSOLUTE_FORM.exec(url);
  if (absolute === null) return null;
  const rest = url.slice(absolute[0].length);
  return targetOf(absolute[1] ?? "", rest.startsWith("/") ? rest : `/${rest}`);
};

const targetOf = (authority: string | undefined, pathAndQuery: string): RequestTarget | null => {
  const host = authority === undefined ? null : hostNameOf(authority);
  if (authority !== undefined && host === null) return null;
  const end = pathAndQuery.search(/[?#]/);
  const path = end === -1 ? pathAndQuery : pathAndQuery.slice(0, end);
  const query = end !== -1 && pathAndQuery[end] === "?" ? pathAndQuery.slice(end + 1) : "";
  return { host, pathAndQuery, path, query };
};

const hostNameOf = (authority: string): string | null => {
  const name = AUTHORITY.exec(authority)?.[1];
  if (name === undefined) return null;
  return (name.endsWith(".") ? name.slice(0, -1) : name).toLowerCase();
};

/** A dot segment, also one that is written with %2e or a backslash: clients resolve those, too. */
const DOT_SEGMENT = /[/\\](?:\.|%2e){1,2}(?:[/\\]|$)/i;

/** Whether a path lies under a prefix such as "/v1", however a client might resolve it. */
export const isUnder = (path: string, prefix: string): boolean => {
  if (!startsUnder(path, prefix)) return false;
  return !DOT_SEGMENT.test(path) || startsUnder(new URL(`http://host.invalid${path}`).pathname, prefix);
};

const startsUnder = (path: string, prefix: string): boolean =>
  path.startsWith(prefix) && (prefix.endsWith("/") || path.length === prefix.length || path[prefix.length] === "/");
