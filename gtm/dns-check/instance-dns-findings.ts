/** What is to be said of instances that were asked the same. */
import { type Finding, listed, ok, problem, unknown } from "#gtm/doctor/finding.ts";
import { type Answer, type Comparison, isAnswered, isSame } from "./comparison.ts";
import type { InstancesChecked } from "./instances-check.ts";
import { questionText } from "./questions.ts";
import { serverText } from "./server-address.ts";

export const instanceDnsFindings = ({ unable, able, compared }: InstancesChecked): readonly Finding[] => {
  const findings = [...unable.map(unableFinding), ...compared.flatMap(differenceFindings)];
  if (findings.length > 0 || able.length === 0) return findings;
  const servers = able.map(serverText);
  return [
    ok(
      "dns-same",
      `${listed(servers)} answer ${compared.length} questions ${servers.length > 1 ? "the same" : "as they should"}.`,
    ),
  ];
};

const unableFinding = ({ server, why, isLocal }: InstancesChecked["unable"][number]): Finding => {
  if (isLocal) return unknown("dns-not-asked", `${serverText(server)} was not asked: ${why}.`);
  const remedy = `Let UDP and TCP in to ${server.address} port ${server.port}, and see that a GTM listens there (dns.listen).`;
  return problem("dns-unable", `${serverText(server)} does not answer as it should: ${why}.`, remedy);
};

const differenceFindings = (comparison: Comparison): readonly Finding[] => {
  const { question, sides } = comparison;
  if (isSame(comparison) && isAnswered(comparison)) return [];
  const shown = sides
    .map(({ servers, answer }) => `${listed(servers.map(serverText))}: ${answerText(answer)}`)
    .join("; ");
  const remedy =
    question.kind === "steered"
      ? "See with gtm instances what the GTMs know of one another: they need one store, and the same regions and policy."
      : "Give every GTM the same dns section, and restart those that run with an older one.";
  return [problem("dns-differs", `${questionText(question)} is answered differently. ${shown}.`, remedy)];
};

/** "NOERROR, A 192.0.2.1, TTL up to 1 min, scope 24" */
export const answerText = (answer: Answer): string => {
  if (answer.kind === "failed") return answer.why;
  const { code, isAuthoritative, data, ttl, scopeBits } = answer;
  return [
    isAuthoritative ? code : `${code} without authority`,
    ...data,
    ...(ttl === null ? [] : [`TTL ${ttl}`]),
    ...(scopeBits === null ? [] : [`scope ${scopeBits}`]),
  ].join(", ");
};
