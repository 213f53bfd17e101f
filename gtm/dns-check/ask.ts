/** One question to one server over sockets of its own, within a deadline. */
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { connect, isIPv6 } from "node:net";
import { decodeReply, encodeQuery, type Query, type Reply } from "./message.ts";
import type { ServerAddress } from "./server-address.ts";

export type Asked =
  | { readonly kind: "answered"; readonly reply: Reply }
  | {
      readonly kind: "failed";
      /** The end of a sentence, such as "no answer within 3 s". */
      readonly why: string;
      /** Whether it is this host that has no way there, such as one without IPv6. */
      readonly isLocal: boolean;
    };

/** Never rejects. */
export type Ask = (server: ServerAddress, query: Query, transport: "udp" | "tcp") => Promise<Asked>;

/** Over UDP twice, as a resolver would at least; each try waits this long. */
const UDP_TRIES = 2;
const UDP_TRY_MS = 1_500;
/** Connection, question and answer. */
const TCP_DEADLINE_MS = 3_000;

export const askNetwork: Ask = async (server, query, transport) => {
  if (transport === "tcp") return askTcp(server, query);
  let asked: Asked = SILENT;
  for (let tries = 0; tries < UDP_TRIES && asked === SILENT; tries += 1) asked = await askUdp(server, query);
  return asked;
};

const SILENT: Asked = { kind: "failed", why: `no answer within ${(UDP_TRIES * UDP_TRY_MS) / 1_000} s`, isLocal: false };
const SLOW: Asked = { kind: "failed", why: `no answer within ${TCP_DEADLINE_MS / 1_000} s`, isLocal: false };

/** Asks over UDP, and again over TCP where the answer did not fit. */
export const askWhole = async (ask: Ask, server: ServerAddress, query: Query): Promise<Asked> => {
  const asked = await ask(server, query, "udp");
  return asked.kind === "answered" && asked.reply.isTruncated ? ask(server, query, "tcp") : asked;
};

const askUdp = ({ address, port }: ServerAddress, query: Query): Promise<Asked> => {
  const id = randomInt(0x1_0000);
  const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
  const { promise, resolve } = Promise.withResolvers<Asked>();
  const timer = setTimeout(() => resolve(SILENT), UDP_TRY_MS);
  socket.on("error", (fault) => resolve(failed(fault)));
  socket.on("message", (octets) => take(octets, query, id, resolve));
  // Connected, it hears that nobody listens there, and nobody but this server.
  socket.connect(port, address, (fault?: Error) => {
    if (fault === undefined) socket.send(encodeQuery(query, id), (unsent) => unsent && resolve(failed(unsent)));
    // Where there is no way to the address; the types do not say that it is told here.
    else resolve(failed(fault));
  });
  return promise.finally(() => {
    clearTimeout(timer);
    socket.close();
  });
};

const askTcp = ({ address, port }: ServerAddress, query: Query): Promise<Asked> => {
  const id = randomInt(0x1_0000);
  const { promise, resolve } = Promise.withResolvers<Asked>();
  const timer = setTimeout(() => resolve(SLOW), TCP_DEADLINE_MS);
  const octets = encodeQuery(query, id);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(octets.length);
  const socket = connect({ host: address, port }, () => socket.write(Buffer.concat([length, octets])));
  let come: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    come = Buffer.concat([come, chunk]);
    const end = come.length < 2 ? Number.POSITIVE_INFINITY : 2 + come.readUInt16BE(0);
    if (come.length >= end) take(come.subarray(2, end), query, id, resolve);
  });
  socket.on("error", (fault) => resolve(failed(fault)));
  socket.on("close", () =>
    resolve({ kind: "failed", why: "the connection is closed without an answer", isLocal: false }),
  );
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
};

/** What is not the answer is passed over. */
const take = (octets: Buffer, query: Query, id: number, resolve: (asked: Asked) => void): void => {
  try {
    const reply = decodeReply(octets, query, id);
    if (reply !== null) resolve({ kind: "answered", reply });
  } catch (fault) {
    const why = `its answer cannot be read (${fault instanceof Error ? fault.message : String(fault)})`;
    resolve({ kind: "failed", why, isLocal: false });
  }
};

const LOCAL: ReadonlySet<string> = new Set(["ENETUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT"]);
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nobody listens there",
  ECONNRESET: "the connection is reset",
  EHOSTUNREACH: "the host is not reached",
};

const failed = (fault: NodeJS.ErrnoException): Asked => {
  const { code = "" } = fault;
  const isLocal = LOCAL.has(code);
  return { kind: "failed", why: isLocal ? "this host has no way there" : (REASONS[code] ?? fault.message), isLocal };
};
