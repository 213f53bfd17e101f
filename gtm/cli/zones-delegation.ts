/** `gtm zones delegation`: the lines to paste at the parent, or a check of what is there. */
import { Command, InvalidArgumentError, Option } from "commander";
import { type GtmConfig, loadGtmConfig } from "#gtm/config.ts";
import { delegationForm, FORM_NAMES, type FormName } from "#gtm/dns-check/delegation-forms.ts";
import { DELEGATION_TTL, delegationRecords } from "#gtm/dns-check/delegation-records.ts";
import { DNS_PORT, type ServerAddress } from "#gtm/dns-check/server-address.ts";
import { DEFAULT_SERVER, formatOption, withExamples } from "./api-command.ts";
import { portOf, serversOf } from "./dns-options.ts";
import { type Format, findingsText } from "./doctor-text.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";
import { coloured } from "./table.ts";
import { askGtm } from "./zones-delegation-asked.ts";

type Wishes = {
  /** Absent: a running GTM is asked. */
  readonly config?: string;
  readonly server: string;
  readonly form?: FormName;
  readonly ttl: number;
  readonly check?: true;
  readonly parent?: readonly ServerAddress[];
  readonly port: number;
  readonly output: Format;
};

/** Of the whole check. */
const DEADLINE_MS = 14_000;

export const delegationCommand = (io: CliIo): Command =>
  withExamples(
    new Command("delegation").description(
      "print what to paste at the parent zone; with --check ask the parent's servers and each name server, and say what mends each fault (exit 7 when there is a problem)",
    ),
    [
      "zones delegation --config /etc/llm-gtm/gtm.yaml",
      "zones delegation --check",
      "zones delegation --config /etc/llm-gtm/gtm.yaml --form route53 > delegation.json",
      "zones delegation --config /etc/llm-gtm/gtm.yaml --check",
      "zones delegation --config /etc/llm-gtm/gtm.yaml --check --parent 192.0.2.53 -o json",
    ],
  )
    .option("--config <file>", "the configuration that the GTMs run with; absent: a running GTM is asked")
    .option("--server <url>", "address of the admin API, where no configuration is named", DEFAULT_SERVER)
    .addOption(new Option("--form <form>", "one form alone, without headings").choices(FORM_NAMES))
    .option("--ttl <seconds>", "how long resolvers keep the delegation", ttlOf, DELEGATION_TTL.usual)
    .option("--check", "look at the delegation as it is")
    .option(
      "--parent <address[:port]...>",
      "servers of the parent zone; absent: found by this host's resolver",
      serversOf,
    )
    .option("--port <port>", "of the zone's own name servers; others than 53 are for labs", portOf, DNS_PORT)
    .addOption(formatOption())
    .addHelpText("after", LIMITS)
    .action((wishes: Wishes, command: Command) => {
      const { config } = wishes;
      if (config === undefined) return askGtm(io, wishes, command);
      return wishes.check ? check(io, { ...wishes, config }) : print(io, { ...wishes, config });
    });

const LIMITS = `
Each question of --check is asked over UDP twice for 1.5 s, over TCP once for 3 s; the whole ends within 15 s.
The records and their TTL are those of terraform/modules/delegation.`;

const ttlOf = (text: string): number => {
  const seconds = Number(text);
  const { least, most } = DELEGATION_TTL;
  if (/^\d+$/.test(text) && seconds >= least && seconds <= most) return seconds;
  throw new InvalidArgumentError(`It must be a whole number of seconds from ${least} to ${most}.`);
};

type FromFile = Wishes & { readonly config: string };

const print = (io: CliIo, { config, form, ttl, output }: FromFile): void => {
  const { zone } = loadGtmConfig(config, io.env).dns;
  if (output !== "table") {
    const records = delegationRecords(zone, ttl).map(({ ttlSeconds, ...rest }) => ({ ...rest, ttl: ttlSeconds }));
    io.print(
      output === "json"
        ? `${JSON.stringify({ items: records }, null, 2)}\n`
        : records.map((one) => `${JSON.stringify(one)}\n`).join(""),
    );
    return;
  }
  if (form !== undefined) {
    const { how, text } = delegationForm(form, zone, ttl);
    io.tell(`${how}\n`);
    io.print(text);
    return;
  }
  const forms = FORM_NAMES.map((name) => delegationForm(name, zone, ttl));
  io.print(
    forms
      .map(({ title, how, text }) => `${coloured(title.toUpperCase(), "bold", io.isColourful)}\n${how}\n\n${text}`)
      .join("\n"),
  );
};

const check = async (io: CliIo, { config, parent, port, output }: FromFile): Promise<void> => {
  const { dns, pools } = loadGtmConfig(config, io.env);
  // Only who checks waits until the codec is read.
  const [{ checkDelegation }, { askNetwork }, { systemResolver }, { deadlineOf }] = await Promise.all([
    import("#gtm/dns-check/delegation-check.ts"),
    import("#gtm/dns-check/ask.ts"),
    import("#gtm/dns-check/resolver.ts"),
    import("#gtm/dns-check/within.ts"),
  ]);
  io.tell(`Following the delegation of ${dns.zone.name} down from ${parentsText(parent)}.\n`);
  using deadline = deadlineOf(DEADLINE_MS);
  const examined = await checkDelegation(
    { zone: dns.zone, steeredName: steeredName({ dns, pools }), parents: parent ?? null, port },
    { ask: deadline.ask(askNetwork), resolver: deadline.resolver(systemResolver()) },
  );
  io.print(findingsText(examined, output, io.isColourful));
  if (examined.some(({ findings }) => findings.some(({ severity }) => severity === "problem"))) {
    throw new CliFailure(EXIT.problemsFound, "");
  }
};

const parentsText = (parents: readonly ServerAddress[] | undefined): string =>
  parents === undefined
    ? "the parent's servers"
    : parents.map(({ address, port }) => `${address} port ${port}`).join(", ");

const steeredName = ({ dns, pools }: Pick<GtmConfig, "dns" | "pools">): string => {
  const steered = pools.find(({ answer }) => answer === "regions") ?? dns.defaultPool;
  return `${steered.name}.${dns.zone.name}`;
};
