/** Whether each name server of the zone answers as resolvers need it. */

import { isIPv6 } from "node:net";
import { type Finding, listed, ok } from "#gtm/doctor/finding.ts";
import type { Zone } from "#gtm/domain/zone.ts";
import type { Asked } from "./ask.ts";
import { BADVERS, NOERROR, rcodeText } from "./message.ts";
import { type OptReply, PAYLOAD, UNKNOWN_OPTION } from "./opt.ts";
import { type Saying, together } from "./sayings.ts";
import { type ServerAddress, serverText } from "./server-address.ts";
import { ASKED_SUBNET, type ServerAsked } from "./server-examination.ts";

export const serverFindings = (zone: Pick<Zone, "name">, servers: readonly ServerAsked[]): readonly Finding[] => [
  ...together(servers.flatMap((server) => sayingsOf(zone, server))),
  ...servers.filter((server) => sayingsOf(zone, server).length === 0).map(inOrder),
];

const inOrder = ({ server, names, subnet }: ServerAsked): Finding => {
  const scope = subnet.kind === "answered" ? subnet.reply.opt?.subnet?.scopeBits : undefined;
  const what = `${serverText(server)} (${listed(names)}) answers with authority over UDP and TCP, with EDNS, and a client subnet with scope ${scope}.`;
  return ok("server-answers", what);
};

const sayingsOf = (zone: Pick<Zone, "name">, asked: ServerAsked): readonly Saying[] => {
  const say: Say = (id, what, remedy, severity = "problem") => ({
    ...{ server: serverText(asked.server), id, severity, what, remedy },
  });
  const authority = authoritySayings(zone, asked, say);
  // What does not answer, or for another zone, has nothing else to be said of.
  return authority.length > 0 ? authority : [...tcpSayings(asked, say), ...ednsSayings(asked, say)];
};

type Say = (id: string, what: string, remedy: string, severity?: Saying["severity"]) => Saying;

const authoritySayings = (
  { name }: Pick<Zone, "name">,
  { server, udp, tcp }: ServerAsked,
  say: Say,
): readonly Saying[] => {
  if (udp.kind === "failed") {
    if (udp.isLocal)
      return [
        say(
          "server-not-asked",
          "A name server was not asked: this host has no way there",
          isIPv6(server.address) ? "Ask from a host that has IPv6." : "Ask from a host that has a way there.",
          "unknown",
        ),
      ];
    const also = tcp.kind === "failed" ? "" : ", over TCP it does";
    const remedy = `Let UDP in to ${where(server)}, and see that a GTM listens there (dns.listen).`;
    return [say("server-silent", `A name server gives no answer over UDP: ${udp.why}${also}`, remedy)];
  }
  const { rcode, isAuthoritative, answers } = udp.reply;
  const soa = answers.filter((one) => one.type === "SOA" && one.name === name);
  if (rcode === NOERROR && isAuthoritative && soa.length === 1) return [];
  const how = rcode !== NOERROR ? rcodeText(rcode) : isAuthoritative ? "no SOA" : "without authority";
  const remedy = `Set dns.zone: ${name} in the configuration of the GTM at ${where(server)}, or take that address out of dns.ns and of the parent zone.`;
  return [say("server-lame", `A name server is not authoritative for ${name}: it answers ${how}`, remedy)];
};

const where = ({ address, port }: ServerAddress): string => `${address} port ${port}`;

const tcpSayings = ({ server, tcp }: ServerAsked, say: Say): readonly Saying[] => {
  const remedy = `Let TCP in to ${where(server)}, as UDP is: answers that are cut short are asked for again there (RFC 7766).`;
  if (tcp.kind === "failed") return [say("server-tcp", `A name server gives no answer over TCP: ${tcp.why}`, remedy)];
  const isSound = tcp.reply.rcode === NOERROR && tcp.reply.isAuthoritative;
  return isSound
    ? []
    : [
        say(
          "server-tcp",
          `A name server answers over TCP ${rcodeText(tcp.reply.rcode)}, over UDP with authority`,
          remedy,
        ),
      ];
};

const UNCHANGED =
  "Take away what changes DNS messages on their way there, such as a firewall's inspection or a proxy without EDNS.";

const ednsSayings = (asked: ServerAsked, say: Say): readonly Saying[] => {
  const { edns } = asked;
  const fault = faultOf(edns);
  if (fault !== null)
    return [say("edns", `A name server does not speak EDNS: to a query with OPT ${fault}`, UNCHANGED)];
  const payload = optOf(edns)?.payload ?? 0;
  return [
    ...(payload < PAYLOAD
      ? [
          say(
            "edns-payload",
            `A name server takes datagrams of ${payload} octets, less than ${PAYLOAD}`,
            UNCHANGED,
            "warning",
          ),
        ]
      : []),
    ...versionSayings(asked, say),
    ...optionSayings(asked, say),
    ...subnetSayings(asked, say),
  ];
};

const optOf = (asked: Asked): OptReply | null => (asked.kind === "answered" ? asked.reply.opt : null);

/** @returns null where the answer is as wanted, with OPT */
const faultOf = (asked: Asked, wanted = NOERROR): string | null => {
  if (asked.kind === "failed") return asked.why;
  if (asked.reply.rcode !== wanted) return `it answers ${rcodeText(asked.reply.rcode)}`;
  return asked.reply.opt === null ? "it answers without OPT" : null;
};

/** RFC 6891 §6.1.3. */
const versionSayings = ({ laterVersion }: ServerAsked, say: Say): readonly Saying[] => {
  const fault = faultOf(laterVersion, BADVERS);
  const answered = optOf(laterVersion)?.version ?? 0;
  if (fault === null && answered === 0) return [];
  const what = fault ?? `it claims version ${answered}`;
  return [say("edns-version", `A name server does not refuse EDNS version 1 with BADVERS: ${what}`, UNCHANGED)];
};

/** RFC 6891 §6.1.2. */
const optionSayings = ({ unknownOption }: ServerAsked, say: Say): readonly Saying[] => {
  const isEchoed = optOf(unknownOption)?.optionCodes.includes(UNKNOWN_OPTION) === true;
  const fault = faultOf(unknownOption) ?? (isEchoed ? "it sends it back" : null);
  return fault === null
    ? []
    : [say("edns-option", `A name server does not ignore an EDNS option that it does not know: ${fault}`, UNCHANGED)];
};

/** RFC 7871 §7.2.1. */
const subnetSayings = ({ subnet }: ServerAsked, say: Say): readonly Saying[] => {
  const sourceBits = Number(ASKED_SUBNET.split("/")[1]);
  const got = optOf(subnet)?.subnet ?? null;
  const isEchoed = got !== null && got.sourceBits === sourceBits;
  const fault = faultOf(subnet) ?? (isEchoed ? null : "the answer does not have it");
  return fault === null
    ? []
    : [
        say(
          "subnet-lost",
          `The client subnet that resolvers send does not arrive at a name server: ${fault}`,
          UNCHANGED,
        ),
      ];
};
