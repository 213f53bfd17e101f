/** A small server of a zone that is at fault in one way, for those who look for that fault. */
import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { type Answer, decode, encode, type OptAnswer, type Packet, type RecordType } from "dns-packet";

export type ZoneServerWish = {
  readonly zone: string;
  /** Of name servers, inside the zone. */
  readonly ns: Readonly<Record<string, readonly string[]>>;
  readonly serial?: number;
  readonly address: string;
  /** For both transports. */
  readonly port: number;
  readonly fault:
    | "none"
    | "lame"
    | "no-tcp"
    | "no-udp"
    | "no-edns"
    | "formerr-on-edns"
    | "small-payload"
    | "takes-version-1"
    | "echoes-options"
    | "no-subnet"
    | "aliased-ns";
};

export const startZoneServer = async (wish: ZoneServerWish): Promise<AsyncDisposable> => {
  const { address, port, fault } = wish;
  const udp = createSocket("udp4");
  udp.on("message", (octets: Buffer, from: RemoteInfo) => {
    if (fault !== "no-udp") udp.send(answered(octets, wish), from.port, from.address);
  });
  udp.bind(port, address);
  await once(udp, "listening");
  const tcp = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (octets) => {
      const reply = answered(octets.subarray(2), wish);
      const length = Buffer.from([reply.length >>> 8, reply.length & 0xff]);
      socket.end(Buffer.concat([length, reply]));
    });
  });
  if (fault !== "no-tcp") {
    tcp.listen(port, address);
    await once(tcp, "listening");
  }
  return {
    [Symbol.asyncDispose]: async () => {
      udp.close();
      if (!tcp.listening) return;
      tcp.close();
      await once(tcp, "close");
    },
  };
};

const AUTHORITATIVE = 0x0400;
const FORMERR = 1;
const REFUSED = 5;
const BADVERS_HIGH = 1;

const answered = (octets: Buffer, wish: ZoneServerWish): Buffer => {
  const query = decode(octets);
  const opt = query.additionals?.find((one): one is OptAnswer => one.type === "OPT") ?? null;
  const { id, questions } = query;
  const reply = (rcode: number, answers: readonly Answer[], additionals: readonly Answer[]): Buffer => {
    const flags = (wish.fault === "lame" ? 0 : AUTHORITATIVE) | rcode;
    const packet: Packet = { type: "response", flags, answers: [...answers], additionals: [...additionals] };
    return encode({
      ...packet,
      ...(id === undefined ? {} : { id }),
      ...(questions === undefined ? {} : { questions }),
    });
  };
  if (wish.fault === "lame") return reply(REFUSED, [], []);
  if (opt !== null && wish.fault === "formerr-on-edns") return reply(FORMERR, [], []);
  const own = opt === null ? [] : [replyOpt(opt, wish.fault)];
  if (opt !== null && opt.ednsVersion !== 0 && wish.fault !== "takes-version-1") {
    return reply(0, [], [{ ...replyOpt(opt, wish.fault), extendedRcode: BADVERS_HIGH }]);
  }
  const [question] = questions ?? [];
  const answers = question === undefined ? [] : recordsOf(question.name, question.type, wish);
  return reply(0, answers, wish.fault === "no-edns" ? [] : own);
};

const replyOpt = (asked: OptAnswer, fault: ZoneServerWish["fault"]): OptAnswer => {
  // What dns-packet decodes it cannot encode again, but by its octets.
  const options = asked.options
    .filter(({ code }) => ((code as number) === 8 ? fault !== "no-subnet" : fault === "echoes-options"))
    .map(({ code, data }) => ({ code, data }));
  return {
    ...{ type: "OPT", name: ".", extendedRcode: 0, ednsVersion: 0, flags: 0, flag_do: false },
    udpPayloadSize: fault === "small-payload" ? 512 : 1_232,
    options: options as OptAnswer["options"],
  };
};

const recordsOf = (
  name: string,
  type: RecordType,
  { zone, ns, serial = 1, fault }: ZoneServerWish,
): readonly Answer[] => {
  const ttl = 3_600;
  if (name === zone && type === "NS") return Object.keys(ns).map((data) => ({ type: "NS", name, ttl, data }));
  if (name === zone && type === "SOA") {
    const [mname = zone] = Object.keys(ns);
    const timers = { refresh: 14_400, retry: 3_600, expire: 604_800, minimum: 30 };
    return [{ type: "SOA", name, ttl, data: { mname, rname: `hostmaster.${zone}`, serial, ...timers } }];
  }
  const addresses = ns[name];
  if (addresses !== undefined && fault === "aliased-ns") return [{ type: "CNAME", name, ttl, data: `host.${zone}` }];
  if (type === "A") return (addresses ?? ["192.0.2.1"]).map((data) => ({ type: "A", name, ttl, data }));
  return [];
};
