/** What the parent's servers say of the delegation, beside what the configuration wants. */

import { type Finding, ok, problem } from "#gtm/doctor/finding.ts";
import { isInZone, type Zone } from "#gtm/domain/zone.ts";
import type { Asked } from "./ask.ts";
import { addressesOf, delegationRecords, zoneFileLines } from "./delegation-records.ts";
import { NOERROR, NXDOMAIN, type Reply, type ReplyRecord, rcodeText } from "./message.ts";
import { difference, type Saying, together } from "./sayings.ts";
import { type ServerAddress, serverText } from "./server-address.ts";

export type ParentAsked = {
  readonly server: ServerAddress;
  /** NS of the zone, without EDNS, over UDP. */
  readonly udp: Asked;
  /** The same over TCP where it was cut short, else as `udp`. */
  readonly whole: Asked;
};

/** What a parent's server refers to. */
export type Referral = {
  readonly ns: readonly string[];
  readonly ttlSeconds: number;
  readonly glue: readonly ReplyRecord[];
};

type Delegated = Pick<Zone, "name" | "ns">;

/** @returns null where the answer names no name servers of this very zone */
export const referralIn = (reply: Reply, zone: string): Referral | null => {
  const ns = [...reply.answers, ...reply.authority].filter(({ name, type }) => name === zone && type === "NS");
  const glue = reply.additional.filter(({ type }) => type === "A" || type === "AAAA");
  const [first] = ns;
  return first === undefined ? null : { ns: ns.map(({ data }) => data), ttlSeconds: first.ttlSeconds, glue };
};

export const parentFindings = (zone: Delegated, parents: readonly ParentAsked[]): readonly Finding[] => {
  const referrals = parents.flatMap(({ whole }) => {
    const referral = whole.kind === "answered" ? referralIn(whole.reply, zone.name) : null;
    return referral === null ? [] : [referral];
  });
  const findings = together(parents.flatMap((parent) => sayingsOf(zone, parent)));
  const isAnybodyThere = parents.some(({ whole }) => whole.kind === "answered");
  if (!isAnybodyThere) return [...findings, unreachable()];
  const isRight = findings.every(({ severity }) => severity !== "problem") && referrals.length > 0;
  return isRight ? [...findings, agreed(zone, parents, referrals)] : findings;
};

const unreachable = (): Finding =>
  problem(
    "parent-unreachable",
    "No server of the parent zone answers this host.",
    "Name those that it reaches: --parent ADDRESS.",
  );

const agreed = (zone: Delegated, parents: readonly ParentAsked[], referrals: readonly Referral[]): Finding => {
  const ttls = [...new Set(referrals.map(({ ttlSeconds }) => ttlSeconds))].toSorted((a, b) => a - b);
  const count = parents.length === 1 ? "1 server" : `${parents.length} servers`;
  return ok(
    "parent-delegates",
    `${count} of the parent zone, and the configuration: ${zone.ns.length} name servers, the same glue; resolvers keep it for ${ttls.join(" or ")} s, and the old one as long after a change.`,
  );
};

const sayingsOf = (zone: Delegated, { server, udp, whole }: ParentAsked): readonly Saying[] => {
  const say = (severity: Saying["severity"], id: string, what: string, remedy: string | null): Saying => ({
    ...{ server: serverText(server), id, severity, what, remedy },
  });
  if (whole.kind === "failed") {
    const remedy = whole.isLocal ? null : "Ask whoever runs it, or name others: --parent ADDRESS.";
    return [
      say(
        whole.isLocal ? "unknown" : "warning",
        "parent-silent",
        `A server of the parent zone gives no answer: ${whole.why}`,
        remedy,
      ),
    ];
  }
  const referral = referralIn(whole.reply, zone.name);
  if (referral !== null) {
    const large = "The referral does not fit into 512 octets, so that every resolver without EDNS asks again over TCP";
    const isCut = udp.kind === "answered" && udp.reply.isTruncated;
    const cut = isCut
      ? [say("warning", "referral-large", large, "Delegate to fewer name servers, or give them shorter names.")]
      : [];
    return [
      ...cut,
      ...(isShared(whole.reply) ? [say("warning", "parent-serves-zone", ...sharedWords(zone))] : []),
      ...setSayings(zone, referral, say),
    ];
  }
  return [say(...unreferred(zone, whole.reply))];
};

type Say = (severity: Saying["severity"], id: string, what: string, remedy: string | null) => Saying;

/** An answer with authority is no referral: this server holds a zone of that name itself. */
const isShared = (reply: Reply): boolean => reply.isAuthoritative && reply.answers.length > 0;

const sharedWords = ({ name }: Delegated): readonly [string, string] => [
  `A server of the parent zone answers for ${name} itself instead of referring to it`,
  `Take the zone ${name} off that server: what it says of the names below hides the GTMs.`,
];

const unreferred = (zone: Delegated, reply: Reply): Parameters<Say> => {
  const isOurs = reply.isAuthoritative || reply.rcode === NXDOMAIN;
  if (isOurs && (reply.rcode === NOERROR || reply.rcode === NXDOMAIN)) {
    const lines = zoneFileLines(delegationRecords(zone)).join("; ");
    return [
      "problem",
      "delegation-missing",
      `The parent zone does not delegate ${zone.name}`,
      `Add to the parent zone: ${lines}`,
    ];
  }
  const what = reply.rcode === NOERROR ? "refers elsewhere" : `answers ${rcodeText(reply.rcode)}`;
  const remedy =
    "Name servers of the parent zone with --parent, or have this one taken out of the parent's own delegation.";
  return [
    "warning",
    "parent-lame",
    `A server that is said to have the parent zone ${what} when asked for ${zone.name}`,
    remedy,
  ];
};

const setSayings = (zone: Delegated, referral: Referral, say: Say): readonly Saying[] => {
  const wanted = zone.ns.map(({ name }) => name);
  const { missing, extra } = difference(wanted, referral.ns);
  return [
    ...missing.map((name) => {
      const only = { name: zone.name, ns: zone.ns.filter((server) => server.name === name) };
      const lines = zoneFileLines(delegationRecords(only)).join("; ");
      return say("problem", "ns-missing", `The parent zone does not name ${name}`, `Add to the parent zone: ${lines}`);
    }),
    ...extra.map((name) => {
      const line = `${zone.name}. ${referral.ttlSeconds} IN NS ${name}.`;
      const remedy = `Remove from the parent zone: ${line} (or add it to dns.ns, where it is a GTM's).`;
      return say("problem", "ns-extra", `The parent zone names ${name}, which dns.ns does not`, remedy);
    }),
    ...zone.ns
      .filter(({ name }) => isInZone(name, zone.name) && referral.ns.includes(name))
      .flatMap((server) => (["A", "AAAA"] as const).flatMap((type) => glueSayings(server, type, { referral, say }))),
  ];
};

type GlueContext = { readonly referral: Referral; readonly say: Say };

const glueSayings = (
  server: Zone["ns"][number],
  type: "A" | "AAAA",
  { referral, say }: GlueContext,
): readonly Saying[] => {
  const given = referral.glue.filter((one) => one.name === server.name && one.type === type);
  const { missing, extra } = difference(
    addressesOf(server, type),
    given.map(({ data }) => data),
  );
  const line = (value: string): string =>
    `${server.name}. ${given[0]?.ttlSeconds ?? referral.ttlSeconds} IN ${type} ${value}`;
  const words = [...extra.map((value) => `remove ${line(value)}`), ...missing.map((value) => `add ${line(value)}`)];
  const remedy = `In the parent zone ${words.join("; ")}`;
  if (extra.length > 0) {
    const beside = missing.length > 0 ? ` and not ${missing.join(", ")}` : "";
    return [
      say(
        "problem",
        "glue-wrong",
        `The parent zone has ${extra.join(", ")} as address of ${server.name}${beside}`,
        remedy,
      ),
    ];
  }
  if (missing.length === 0) return [];
  return [
    say("problem", "glue-missing", `The parent zone lacks ${missing.join(", ")} as address of ${server.name}`, remedy),
  ];
};
