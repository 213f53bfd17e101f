/** `gtm zones delegation` of a running GTM: the lines that it wants at the parent, and a check that it makes from where it is. */
import type { Command } from "commander";
import type { FormName } from "#gtm/dns-check/delegation-forms.ts";
import type { Examined } from "#gtm/doctor/examine.ts";
import { type Finding, SEVERITIES, type Severity } from "#gtm/doctor/finding.ts";
import { DelegationView } from "#gtm/wire/admin/routes/zones.ts";
import { invocationOf, printOne, understood } from "./api-command.ts";
import { findingsText } from "./doctor-text.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";
import { coloured } from "./table.ts";
import { onlyZone } from "./zones-records.ts";

type Asked = { readonly form?: FormName; readonly check?: true };

export const askGtm = async (io: CliIo, { form, check }: Asked, command: Command): Promise<void> => {
  const invocation = invocationOf(command, io);
  const given = ["ttl", "port", "parent"].filter((name) => command.getOptionValueSource(name) === "cli");
  if (given.length > 0) {
    const names = given.map((name) => `--${name}`).join(" and ");
    throw new CliFailure(EXIT.usage, `${names} needs --config: a running GTM asks as its own configuration says`);
  }
  const { client, format } = invocation;
  const path = `/zones/${encodeURIComponent(await onlyZone(client))}/delegation`;
  if (check !== true) {
    const { body } = await client.call({ method: "GET", path });
    printOne(invocation, body, DelegationView, (delegation) => formsText(delegation, form, io.isColourful));
    return;
  }
  io.tell("The GTM asks the parent's servers and the zone's own; that takes 15 s at most.\n");
  const { body } = await client.call({ method: "POST", path: `${path}/check`, body: {} });
  const found = understood(DelegationView, body).check?.findings ?? [];
  io.print(findingsText(examinedOf(found), format, io.isColourful));
  if (found.some(({ severity }) => severity === "problem")) throw new CliFailure(EXIT.problemsFound, "");
};

const formsText = ({ forms }: DelegationView, form: FormName | undefined, isColourful: boolean): string =>
  form === undefined
    ? forms
        .map(({ title, how, text }) => `${coloured(title.toUpperCase(), "bold", isColourful)}\n${how}\n\n${text}`)
        .join("\n")
    : (forms.find(({ name }) => name === form)?.text ?? "");

const examinedOf = (found: NonNullable<DelegationView["check"]>["findings"]): readonly Examined[] =>
  [...Map.groupBy(found, ({ subject }) => subject)].map(([subject, ones]) => ({
    subject,
    findings: ones.map(
      ({ id, severity, what, remedy }): Finding => ({ ...{ id, what, remedy }, severity: severityOf(severity) }),
    ),
  }));

/** What a newer GTM calls otherwise is not known here. */
const severityOf = (text: string): Severity => SEVERITIES.find((one) => one === text) ?? "unknown";
