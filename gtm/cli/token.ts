/** `gtm token create`: makes a token for the admin API, and the line by which the GTM knows it. */
import { Command, InvalidArgumentError, Option } from "commander";
import { createToken, hashOfToken } from "#gtm/wire/admin/token.ts";
import { ActorName, HostName, Role, tokenLine } from "#gtm/wire/admin/tokens-file.ts";
import { type Format, formatOption, withExamples } from "./api-command.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";
import { facts } from "./table.ts";

export const tokenCommand = (io: CliIo): Command =>
  new Command("token").description("tokens of the admin API").addCommand(createCommand(io));

const createCommand = (io: CliIo): Command =>
  withExamples(
    new Command("create").description("make a token; the GTM keeps only its hash, in admin.auth.tokens_file"),
    [
      "token create --role operator --name alice",
      "token create --role viewer --name grafana -o json",
      "token create --role acme --name lego --names chat.llm.example.com,c.llm.example.com",
    ],
  )
    .addOption(
      new Option(
        "--role <role>",
        "viewer reads, operator orders too, admin may do everything; acme answers challenges and does nothing else",
      )
        .choices(Role.options)
        .makeOptionMandatory(),
    )
    .requiredOption("--name <name>", "whose it is; orders and logs name it", aName)
    .option("--names <names>", "with --role acme: for certificates of these names only, apart by commas", hostNames)
    .addOption(formatOption())
    .action(({ role, name, names, output }: CreateOptions) => {
      if (names !== undefined && role !== "acme")
        throw new CliFailure(EXIT.usage, "--names goes with --role acme only");
      const token = createToken();
      const entry = { name, role, sha256: hashOfToken(token), ...(names === undefined ? {} : { names }) };
      const line = tokenLine(entry);
      if (output === "table")
        io.print(
          facts([
            ["token", token],
            ["line", line],
          ]),
        );
      else io.print(`${JSON.stringify({ token, line, ...entry }, null, output === "json" ? 2 : undefined)}\n`);
      io.tell(
        `The token is shown once: give it to its owner, who sets ${OWN[role === "acme" ? "acme" : "other"]} to it.\nAdd the line to admin.auth.tokens_file; the GTM reads it without a restart.\n`,
      );
    });

type CreateOptions = {
  readonly role: Role;
  readonly name: string;
  readonly names?: string[];
  readonly output: Format;
};

/** lego logs in with a name and a password. */
const OWN = { acme: "HTTPREQ_PASSWORD (and HTTPREQ_USERNAME to the name)", other: "GTM_TOKEN" } as const;

/** A wildcard's challenge stands at the name above it. */
const hostNames = (text: string): string[] =>
  text.split(",").map((part) => {
    const name = HostName.safeParse(part.trim().replace(/^\*\./, ""));
    if (name.success) return name.data;
    throw new InvalidArgumentError(`"${part}" ${name.error.issues[0]?.message ?? "is no name"}.`);
  });

const aName = (text: string): string => {
  const name = ActorName.safeParse(text);
  if (name.success) return name.data;
  throw new InvalidArgumentError(`It ${name.error.issues[0]?.message ?? "is no name"}.`);
};
