/** `gtm dns check`: asks all instances the same questions and shows where they differ. */
import { Command } from "commander";
import { type GtmConfig, loadGtmConfig } from "#gtm/config.ts";
import { asSubnet, type Question, questionsOf, USUAL_SUBNETS } from "#gtm/dns-check/questions.ts";
import { DNS_PORT, type ServerAddress } from "#gtm/dns-check/server-address.ts";
import { formatOption, withExamples } from "./api-command.ts";
import { comparisonText, type Format, isAlike } from "./dns-check-text.ts";
import { serversOf, subnetsOf } from "./dns-options.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";

type Wishes = {
  readonly config?: string;
  readonly zone?: string;
  readonly server?: readonly ServerAddress[];
  readonly subnet?: readonly string[];
  readonly output: Format;
};

/** Of the whole check. */
const DEADLINE_MS = 60_000;

export const dnsCheckCommand = (io: CliIo): Command =>
  withExamples(
    new Command("check").description(
      "ask all GTMs the same questions and compare code, authority, data, TTL and client subnet (exit 7 when they differ or one is silent)",
    ),
    [
      "dns check --config /etc/llm-gtm/gtm.yaml",
      "dns check --config /etc/llm-gtm/gtm.yaml --subnet 192.0.2.0/24 --subnet 2001:db8::/48",
      "dns check --zone llm.example.com --server 192.0.2.1 --server [2001:db8::53]:5300 -o json",
    ],
  )
    .option("--config <file>", "the configuration of the GTMs: their names, and their addresses in dns.ns")
    .option("--zone <name>", "without a configuration: ask for the names that every zone has")
    .option("--server <address[:port]...>", "ask these instead of the addresses in dns.ns", serversOf)
    .option(
      "--subnet <cidr...>",
      "where clients are said to be, in /24 or /48; else some on three continents",
      subnetsOf,
    )
    .addOption(formatOption())
    .addHelpText("after", NOTES)
    .action((wishes: Wishes) => check(io, wishes));

const NOTES = `
Each question is asked over UDP twice for 1.5 s, and over TCP for 3 s where the answer is cut short; the whole ends within
60 s. What differs is asked again for 2.5 s: reports, orders and pins reach all GTMs within two seconds.`;

const check = async (io: CliIo, wishes: Wishes): Promise<void> => {
  const config = wishes.config === undefined ? null : loadGtmConfig(wishes.config, io.env);
  const servers = wishes.server ?? (config === null ? [] : instancesIn(config));
  const questions = questionsFor(wishes, config);
  if (questions === null || servers.length === 0) {
    throw new CliFailure(EXIT.usage, "whom to ask for what? Give --config FILE, or --zone NAME with --server ADDRESS.");
  }
  // Only who checks waits until the codec is read.
  const [{ checkInstances }, { askNetwork }, { deadlineOf }] = await Promise.all([
    import("#gtm/dns-check/instances-check.ts"),
    import("#gtm/dns-check/ask.ts"),
    import("#gtm/dns-check/within.ts"),
  ]);
  io.tell(
    `Asking ${servers.length} ${servers.length === 1 ? "address" : "addresses"} ${questions.length} questions.\n`,
  );
  using deadline = deadlineOf(DEADLINE_MS);
  const ports = { ask: deadline.ask(askNetwork), sleep: io.sleep };
  const checked = await checkInstances(servers, questions, ports);
  io.print(comparisonText(checked, wishes.output, io.isColourful));
  if (!isAlike(checked)) throw new CliFailure(EXIT.problemsFound, "");
};

const instancesIn = ({ dns }: GtmConfig): readonly ServerAddress[] =>
  dns.zone.ns.flatMap(({ ipv4, ipv6 }) => [...ipv4, ...ipv6].map((address) => ({ address, port: DNS_PORT })));

const questionsFor = ({ zone, subnet }: Wishes, config: GtmConfig | null): readonly Question[] | null => {
  if (config !== null) {
    const { dns, pools, models, sites } = config;
    const subnets = subnet ?? subnetsIn(config);
    return questionsOf({ zone: dns.zone.name, pools, models, regions: sites, records: dns.zone.records, subnets });
  }
  if (zone === undefined) return null;
  const name = zone.toLowerCase().replace(/\.$/, "");
  return questionsOf({ zone: name, pools: [], models: [], regions: [], records: [], subnets: subnet ?? USUAL_SUBNETS });
};

/** Where an operator has said himself where clients are, these are asked for. */
const subnetsIn = ({ geo }: GtmConfig): readonly string[] => {
  const own = geo.static.slice(0, USUAL_SUBNETS.length).map(({ cidr }) => asSubnet(cidr));
  return own.length > 0 ? own : USUAL_SUBNETS;
};
