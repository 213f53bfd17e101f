/** DNS clients on raw sockets: queries made octet by octet, replies decoded by dns-packet, never by our own code. */
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { connect, type Socket as TcpSocket } from "node:net";
import { type Answer, type DecodedPacket, decode, type OptAnswer, type SoaAnswer } from "dns-packet";

export type QueryWish = {
  readonly id?: number;
  /** Second and third octet of the header. */
  readonly flags?: number;
  readonly name?: string;
  readonly type?: number;
  readonly class?: number;
  /** The question's octets, instead of name, type and class. */
  readonly question?: Buffer;
  /** QDCOUNT, ANCOUNT, NSCOUNT, ARCOUNT. */
  readonly counts?: readonly [number, number, number, number];
  /** OPT; null: none. */
  readonly opt?: OptWish | null;
  /** Behind everything. */
  readonly tail?: Buffer;
};
export type OptWish = {
  readonly payload?: number;
  readonly version?: number;
  /** DO is 0x8000. */
  readonly flags?: number;
  readonly options?: Buffer;
};

const u16 = (...values: readonly number[]): Buffer =>
  Buffer.from(values.flatMap((value) => [value >>> 8, value & 0xff]));

export const nameOctets = (name: string): Buffer =>
  Buffer.concat([
    ...name
      .split(".")
      .filter((label) => label !== "")
      .map((label) => Buffer.from([label.length, ...Buffer.from(label, "latin1")])),
    Buffer.from([0]),
  ]);

export const optOctets = ({ payload = 1_232, version = 0, flags = 0, options = Buffer.alloc(0) }: OptWish): Buffer =>
  Buffer.concat([Buffer.from([0]), u16(41, payload, version, flags, options.length), options]);

export const optionOctets = (code: number, data: Buffer): Buffer => Buffer.concat([u16(code, data.length), data]);

/** A client subnet option with whatever it is told. */
export const subnetOption = (family: number, source: number, address: readonly number[], scope = 0): Buffer =>
  optionOctets(8, Buffer.concat([u16(family), Buffer.from([source, scope, ...address])]));

export const queryOctets = (wish: QueryWish = {}): Buffer => {
  const { id = 0x1234, flags = 0, name = "chat.gslb.example.org", type = 1, class: klass = 1, opt = null } = wish;
  const counts = wish.counts ?? [1, 0, 0, opt === null ? 0 : 1];
  return Buffer.concat([
    u16(id, flags, ...counts),
    wish.question ?? Buffer.concat([nameOctets(name), u16(type, klass)]),
    opt === null ? Buffer.alloc(0) : optOctets(opt),
    wish.tail ?? Buffer.alloc(0),
  ]);
};

export type Reply = {
  readonly octets: Buffer;
  readonly packet: DecodedPacket & { readonly rcode: string };
  /** 12 bits. */
  readonly rcode: number;
  readonly opt: OptAnswer | null;
  readonly soa: SoaAnswer | null;
  /** Data of the answer's addresses and names, as texts. */
  readonly data: readonly string[];
  /** SCOPE PREFIX-LENGTH of the client subnet option; null: there is none. */
  readonly scope: number | null;
  /** INFO-CODE of the extended error; null: there is none. */
  readonly extendedError: number | null;
};

export const readReply = (octets: Buffer): Reply => {
  const packet = decode(octets) as Reply["packet"];
  const all = packet.additionals ?? [];
  const opts = all.filter((one): one is OptAnswer => one.type === "OPT");
  if (opts.length > 1) throw new Error("a reply has at most one OPT");
  const opt = opts[0] ?? null;
  const option = (code: number): Buffer | null =>
    (opt?.options ?? []).find((one) => (one.code as number) === code)?.data ?? null;
  return {
    octets,
    packet,
    rcode: ((octets[3] ?? 0) & 0x0f) | ((opt?.extendedRcode ?? 0) << 4),
    opt,
    soa: (packet.authorities ?? []).find((one): one is SoaAnswer => one.type === "SOA") ?? null,
    data: (packet.answers ?? []).map(dataText),
    scope: option(8)?.[3] ?? null,
    extendedError: option(15)?.readUInt16BE(0) ?? null,
  };
};

const dataText = (answer: Answer): string => {
  if (!("data" in answer)) return "";
  const { data } = answer;
  if (Array.isArray(data)) return data.map(String).join("");
  return typeof data === "object" && !Buffer.isBuffer(data) ? JSON.stringify(data) : String(data);
};

type Peer = { readonly address: string; readonly port: number };

export type UdpClient = AsyncDisposable & {
  readonly send: (octets: Buffer) => void;
  /** The next datagram that comes. */
  readonly next: () => Promise<Buffer>;
  readonly ask: (octets: Buffer) => Promise<Buffer>;
};

export const openUdp = async ({ address, port }: Peer, from?: string): Promise<UdpClient> => {
  const socket: UdpSocket = createSocket(address.includes(":") ? "udp6" : "udp4");
  socket.bind(0, from);
  await once(socket, "listening");
  const come: Buffer[] = [];
  const waiting: ((octets: Buffer) => void)[] = [];
  socket.on("message", (octets) => {
    const first = waiting.shift();
    if (first === undefined) come.push(octets);
    else first(octets);
  });
  const send = (octets: Buffer): void => socket.send(octets, port, address);
  const next = (): Promise<Buffer> => {
    const here = come.shift();
    return here === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(here);
  };
  return {
    send,
    next,
    ask: (octets) => {
      send(octets);
      return next();
    },
    [Symbol.asyncDispose]: async () => {
      socket.close();
      await once(socket, "close");
    },
  };
};

export const framed = (octets: Buffer): Buffer => Buffer.concat([u16(octets.length), octets]);

export type TcpClient = AsyncDisposable & {
  readonly socket: TcpSocket;
  readonly write: (octets: Buffer) => Promise<void>;
  /** The next whole message; rejects when the connection ends first. */
  readonly next: () => Promise<Buffer>;
  /** Resolves when the other side has closed, whatever way. */
  readonly closed: Promise<void>;
};

export const openTcp = async ({ address, port }: Peer): Promise<TcpClient> => {
  const socket = connect({ host: address, port, noDelay: true });
  await once(socket, "connect");
  let unread: Buffer = Buffer.alloc(0);
  const waiting: { readonly resolve: (octets: Buffer) => void; readonly reject: (fault: Error) => void }[] = [];
  const hand = (): void => {
    while (waiting.length > 0 && unread.length >= 2 && unread.length >= 2 + unread.readUInt16BE(0)) {
      const end = 2 + unread.readUInt16BE(0);
      const octets = unread.subarray(2, end);
      unread = unread.subarray(end);
      waiting.shift()?.resolve(octets);
    }
  };
  const over = Promise.withResolvers<void>();
  const end = (): void => {
    over.resolve();
    for (const { reject } of waiting.splice(0)) reject(new Error("the connection was closed"));
  };
  socket.on("data", (chunk) => {
    unread = Buffer.concat([unread, chunk]);
    hand();
  });
  socket.on("error", () => {});
  socket.on("end", end);
  socket.on("close", end);
  return {
    socket,
    write: (octets) => new Promise((resolve) => socket.write(octets, () => resolve())),
    next: () =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        hand();
      }),
    closed: over.promise,
    [Symbol.asyncDispose]: async () => {
      if (socket.destroyed) return;
      socket.destroy();
      await once(socket, "close");
    },
  };
};

/** One query over UDP. */
export const askUdp = async (peer: Peer, wish: QueryWish | Buffer): Promise<Reply> => {
  await using client = await openUdp(peer);
  return readReply(await client.ask(Buffer.isBuffer(wish) ? wish : queryOctets(wish)));
};

/** One query over TCP. */
export const askTcp = async (peer: Peer, wish: QueryWish | Buffer): Promise<Reply> => {
  await using client = await openTcp(peer);
  await client.write(framed(Buffer.isBuffer(wish) ? wish : queryOctets(wish)));
  return readReply(await client.next());
};
