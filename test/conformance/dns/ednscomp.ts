/** What ISC's EDNS compliance tester (genreport, ednscomp.isc.org) asks a name server, as lines of dig, and what it must get. */

export type EdnsRow = {
  /** As the tester calls it. */
  readonly test: string;
  /** Of dig, without server, transport, name and type. */
  readonly flags: string;
  /** Else SOA of the zone. */
  readonly type?: "TYPE1000" | "TYPE65535" | "DNSKEY" | "LONG";
  /** Else NOERROR. */
  readonly status?: "BADVERS" | "NOTIMP";
  /** Else one. */
  readonly answers?: 0;
  /** null: no OPT; else one of version 0. */
  readonly opt?: null;
  /** Of the reply's header, beside qr; else aa. */
  readonly header?: string;
  readonly has?: readonly Mark[];
  readonly lacks?: readonly Mark[];
};

/** Something in what dig prints. */
type Mark = { readonly what: string; readonly pattern: RegExp };

const OPTION_100: Mark = { what: "OPT=100", pattern: /OPT=100/ };
const MBZ: Mark = { what: "MBZ", pattern: /MBZ/ };
const NSID: Mark = { what: "NSID", pattern: /; NSID: / };
const COOKIE: Mark = { what: "COOKIE (good)", pattern: /; COOKIE: 0102030405060708[0-9a-f]{32} \(good\)/ };
const SUBNET: Mark = { what: "CLIENT-SUBNET", pattern: /; CLIENT-SUBNET: 0\.0\.0\.0\/0\/0/ };
const EXPIRE: Mark = { what: "EXPIRE", pattern: /EXPIRE/ };
const DO: Mark = { what: "flags: do", pattern: /EDNS: version: 0, flags: do;/ };
const BADVERS = { status: "BADVERS", answers: 0, header: "" } as const;
const PLAIN = "+norec +noad +nocookie";

const HEADER_FLAGS: readonly EdnsRow[] = [
  { test: "dns", flags: "+norec +noad +noedns", opt: null },
  { test: "aa", flags: "+norec +noad +noedns +aaflag", opt: null },
  { test: "ad", flags: "+norec +noedns +adflag", opt: null },
  { test: "cd", flags: "+norec +noad +noedns +cdflag", opt: null },
  { test: "ra", flags: "+norec +noad +noedns +raflag", opt: null },
  { test: "rd", flags: "+rec +noad +noedns", opt: null, header: "aa rd" },
  { test: "tc", flags: "+norec +noad +noedns +tcflag", opt: null },
  { test: "zflag", flags: "+norec +noad +noedns +zflag", opt: null },
];

const EDNS: readonly EdnsRow[] = [
  { test: "edns", flags: `${PLAIN} +edns=0` },
  { test: "edns1", flags: `${PLAIN} +edns=1 +noednsneg`, ...BADVERS },
  { test: "edns@512", flags: `${PLAIN} +dnssec +bufsize=512 +ignore`, type: "LONG" },
  { test: "dnskey@512", flags: `${PLAIN} +dnssec +bufsize=512 +ignore`, type: "DNSKEY", answers: 0 },
  { test: "ednsopt", flags: `${PLAIN} +ednsopt=100`, lacks: [OPTION_100] },
  { test: "edns1opt", flags: `${PLAIN} +edns=1 +noednsneg +ednsopt=100`, ...BADVERS, lacks: [OPTION_100] },
  { test: "do", flags: `${PLAIN} +dnssec`, has: [DO] },
  { test: "docd", flags: `${PLAIN} +dnssec +cdflag`, has: [DO] },
  { test: "edns1do", flags: `${PLAIN} +edns=1 +noednsneg +dnssec`, ...BADVERS },
  { test: "ednsflags", flags: `${PLAIN} +ednsflags=0x40`, lacks: [MBZ] },
  { test: "ednsflags80", flags: `${PLAIN} +ednsflags=0x80`, lacks: [MBZ] },
  { test: "edns1flags", flags: `${PLAIN} +edns=1 +noednsneg +ednsflags=0x80`, ...BADVERS, lacks: [MBZ] },
  { test: "ednsnsid", flags: `${PLAIN} +nsid`, has: [NSID] },
  { test: "ednscookie", flags: "+norec +noad +cookie=0102030405060708", has: [COOKIE] },
  { test: "ednsexpire", flags: `${PLAIN} +expire`, lacks: [EXPIRE] },
  { test: "ednssubnet", flags: `${PLAIN} +subnet=0.0.0.0/0`, has: [SUBNET] },
  {
    test: "optlist",
    flags: "+norec +noad +nsid +subnet=0.0.0.0/0 +expire +cookie=0102030405060708",
    has: [NSID, SUBNET, COOKIE],
  },
  {
    test: "edns1optlist",
    flags: "+norec +noad +edns=1 +noednsneg +nsid +subnet=0.0.0.0/0 +expire +cookie=0102030405060708",
    ...BADVERS,
    lacks: [NSID, SUBNET, COOKIE],
  },
  { test: "dig11", flags: "+norec +noad +cookie +ednsflags=0x80 +ednsopt=100", lacks: [OPTION_100, MBZ] },
];

const TYPES: readonly EdnsRow[] = (["TYPE1000", "TYPE65535"] as const).map((type) => ({
  test: type.toLowerCase(),
  flags: "+norec +noad +noedns",
  type,
  answers: 0,
  opt: null,
}));

/** QUERY is 0; NOTIFY is 4, UPDATE is 5. A reply that has no records has no authority to speak of. */
const OPCODES: readonly EdnsRow[] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].map((opcode) => ({
  test: `opcode${opcode}`,
  flags: `+norec +noad +noedns +header-only +opcode=${opcode}`,
  status: "NOTIMP",
  answers: 0,
  opt: null,
  header: "",
}));

export const EDNS_ROWS: readonly EdnsRow[] = [...HEADER_FLAGS, ...EDNS, ...TYPES, ...OPCODES];

/** As it stands in docs/delegation.md. */
export const lineOf = (row: EdnsRow): string => {
  const { status = "NOERROR", answers = 1, opt = 0, header, has = [], lacks = [] } = row;
  const records = row.type === "LONG" ? "tc and no record; by TCP all" : `${answers === 0 ? "no" : "1"} record`;
  const marks = [...has.map(({ what }) => what), ...lacks.map(({ what }) => `no ${what}`)];
  const edns = opt === 0 ? "EDNS version 0" : "no EDNS";
  const wanted = [status, records, edns, ...(header === "aa rd" ? ["rd"] : []), ...marks].join(", ");
  return `dig ${row.flags} ${questionOf(row, "$Z", "long.$Z").join(" ")} @$S  # ${wanted}`;
};

/** In dig's words. @param long a name with a TXT of more than 512 octets */
export const questionOf = ({ type }: EdnsRow, zone: string, long: string): readonly string[] => {
  if (type === "LONG") return [long, "TXT"];
  return [zone, type ?? "SOA"];
};

/** What is amiss in the answer, as dig tells it; empty: nothing. */
export const complaintsAbout = (row: EdnsRow, said: string, over: "udp" | "tcp"): readonly string[] => {
  const { type, status = "NOERROR", answers = 1, header = "aa", opt = 0, has = [], lacks = [] } = row;
  // An answer that does not fit comes without records, but with its OPT.
  const isCut = type === "LONG" && over === "udp";
  const flags = ["qr", ...header.split(" "), isCut ? "tc" : ""].filter((one) => one !== "").toSorted();
  const found = /^;; flags: ([^;]*);/m.exec(said)?.[1]?.split(" ").toSorted() ?? [];
  const octets = Number(/MSG SIZE +rcvd: (\d+)/.exec(said)?.[1] ?? Number.NaN);
  const wrong: readonly (readonly [isWrong: boolean, what: string])[] = [
    [!said.includes(`status: ${status},`), `the code is not ${status}`],
    [found.join(" ") !== flags.join(" "), `the header's flags are ${found.join(" ")}`],
    [!said.includes(`ANSWER: ${isCut ? 0 : answers},`), `not ${isCut ? 0 : answers} records`],
    [opt === 0 ? !said.includes("EDNS: version: 0,") : said.includes("EDNS:"), "OPT that should not be, or none"],
    ...has.map(({ what, pattern }) => [!pattern.test(said), `${what} is missing`] as const),
    ...lacks.map(({ what, pattern }) => [pattern.test(said), `${what} is there`] as const),
    [/WARNING: (?!recursion requested)|malformed|extra bytes|bad packet/i.test(said), "dig warns"],
    [!said.includes(`(${over.toUpperCase()})\n`), `not over ${over}`],
    [over === "udp" && !(octets <= 512), `${octets} octets`],
  ];
  return wrong.flatMap(([isWrong, what]) => (isWrong ? [`${what}:\n${said}`] : []));
};
