/** Whether the listeners of the configuration answer on this host, by which transport, and whether they could. Pure. */
import type { Asked } from "#gtm/dns-check/ask.ts";
import { type Finding, ok, problem, unknown } from "./finding.ts";
import { type DnsListenerFact, isCut, type PortFact } from "./listener-facts.ts";

/** @param isRunning whether the GTM of this configuration answers */
export const dnsListenerFindings = (facts: readonly DnsListenerFact[], isRunning: boolean): readonly Finding[] =>
  facts.flatMap((fact) => {
    const { place, udp, tcp } = fact;
    if (udp.kind === "failed" && tcp.kind === "failed") return [silent(fact, isRunning)];
    const faults = [
      ...(udp.kind === "failed" ? [oneWay(place, "UDP", "TCP", udp.why)] : []),
      ...(tcp.kind === "failed" ? [oneWay(place, "TCP", "UDP", tcp.why)] : []),
      ...strangerFinding(place, udp.kind === "answered" ? udp : tcp),
      ...ednsFinding(place, udp),
      ...largeFindings(fact),
    ];
    if (faults.length > 0) return faults;
    const large = fact.large === null ? "" : "; what is too large for a datagram comes whole over TCP";
    return [ok("dns-listener", `${place} answers with authority over UDP and TCP, with EDNS${large}.`)];
  });

const silent = ({ place, udp }: DnsListenerFact, isRunning: boolean): Finding => {
  const why = udp.kind === "failed" ? udp.why : "";
  const what = `Nothing answers DNS at ${place} on this host: ${why}.`;
  return isRunning
    ? problem("dns-listener-silent", what, "Read the GTM's log for dns.listening; a firewall may drop what it gets.")
    : unknown("dns-listener-silent", what, "Run doctor beside the GTM, or start it.");
};

const oneWay = (place: string, missing: string, there: string, why: string): Finding =>
  problem(
    `dns-listener-${missing.toLowerCase()}`,
    `${place} answers over ${there} and not over ${missing}: ${why}.`,
    `Let ${missing} through to it; resolvers need both (RFC 7766 §5).`,
  );

const strangerFinding = (place: string, asked: Asked): readonly Finding[] => {
  if (asked.kind === "failed") return [];
  const { isAuthoritative, answers } = asked.reply;
  if (isAuthoritative && answers.some(({ type }) => type === "SOA")) return [];
  const what = `What answers at ${place} has no authority for the zone: it is another program, or runs with another configuration.`;
  return [problem("dns-listener-other", what, "Find it with `ss -lunp 'sport = :53'`; stop it, or change dns.listen.")];
};

const ednsFinding = (place: string, udp: Asked): readonly Finding[] =>
  udp.kind === "answered" && udp.reply.opt === null
    ? [
        problem(
          "dns-listener-edns",
          `${place} answers a query with EDNS without it.`,
          "Something between strips OPT: take it away, such as a proxy.",
        ),
      ]
    : [];

const largeFindings = ({ place, large }: DnsListenerFact): readonly Finding[] => {
  if (large === null) return [];
  const { cut, whole } = large;
  const isWhole = whole.kind === "answered" && !whole.reply.isTruncated && whole.reply.answers.length > 0;
  if (isCut(cut) && isWhole) return [];
  const what = isWhole
    ? `${place} sends an answer of more than 512 octets over UDP to who said nothing of EDNS.`
    : `${place} cuts a large answer short over UDP, and over TCP it does not come whole.`;
  return [problem("dns-listener-large", what, "Let TCP through to it; if it is the GTM itself, report it.")];
};

export const portFindings = (facts: readonly PortFact[], isRunning: boolean): readonly Finding[] =>
  facts.map((fact) => portFinding(fact, isRunning));

const portFinding = ({ what, place, state }: PortFact, isRunning: boolean): Finding => {
  switch (state.kind) {
    case "taken":
      return isRunning
        ? ok("port", `${what} listens at ${place}.`)
        : unknown(
            "port-taken",
            `Something listens at ${place} (${what}), and no GTM answered for it.`,
            `See what: \`ss -ltnp 'sport = :${portOf(place)}'\`.`,
          );
    case "refused":
      return isRunning
        ? problem(
            "port-silent",
            `Nothing listens at ${place} (${what}), though the GTM runs.`,
            "It runs with another configuration, or elsewhere: `gtm status` says which instance it is.",
          )
        : ok("port-free", `${place} is free for ${what}.`);
    case "silent":
      return problem(
        "port-silent",
        `${place} (${what}) takes no connection within 1.5 s.`,
        "A firewall drops what this host sends itself, or the process is stopped.",
      );
    case "unusable":
      return problem(
        "port-unusable",
        `This user cannot listen at ${place} (${what}): ${state.why}.`,
        remedyOf(state.why),
      );
  }
};

const portOf = (place: string): string => place.slice(place.lastIndexOf(":") + 1);

const remedyOf = (code: string): string => {
  if (code === "EACCES")
    return "Give it the right to low ports: AmbientCapabilities=CAP_NET_BIND_SERVICE (deploy/systemd), or a socket of systemd.";
  if (code === "EADDRNOTAVAIL")
    return "This host has no such address: mend the listen line, or run doctor where the GTM runs.";
  return "See what has it: `ss -ltnp`.";
};
