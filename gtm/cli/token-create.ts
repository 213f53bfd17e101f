/** `gtm token create`: a line for the tokens file, made here; or with --server a token that a GTM makes and keeps for all. */
import { Command, Option } from "commander";
import { TokenMade } from "#gtm/wire/admin/routes/tokens.ts";
import { createToken, hashOfToken } from "#gtm/wire/admin/token.ts";
import { limitFaults, Role, type TokenEntry, tokenLine } from "#gtm/wire/admin/tokens-file.ts";
import { duration } from "#shared/units.ts";
import { type Format, formatOption, printOne, withExamples } from "./api-command.ts";
import { createClient } from "./client.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";
import { aDuration } from "./order-options.ts";
import { facts } from "./table.ts";
import { aName, type LimitOptions, limitOptions, limitsIn } from "./token-options.ts";
import { tokenFacts } from "./token-table.ts";

export const createCommand = (io: CliIo): Command =>
  limitOptions(
    withExamples(
      new Command("create").description(
        "make a token: without --server a line for admin.auth.tokens_file, with it one that all GTMs of the store know at once",
      ),
      [
        "token create --role operator --name alice",
        "token create --role viewer --name grafana -o json",
        "token create --role acme --name lego --names chat.llm.example.com,c.llm.example.com",
        'token create --server http://127.0.0.1:9443 --role operator --name bob --regions "eu-*" --for 30d --comment "on call in Europe"',
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
      .requiredOption("--name <name>", "whose it is; orders and logs name it", aName),
  )
    .option("--for <duration>", "how long it stands, such as 12h or 30d; with --server it must be said", aDuration)
    .option("--comment <text>", "with --server: what it is for")
    .option("--server <url>", "let the GTM there make it, instead of a line for the file")
    .option("--dry-run", "with --server: print what would be made")
    .addOption(formatOption())
    .action((options: CreateOptions) =>
      options.server === undefined ? createHere(io, options) : createThere(io, options, options.server),
    );

type CreateOptions = LimitOptions & {
  readonly role: Role;
  readonly name: string;
  readonly for?: string;
  readonly comment?: string;
  readonly server?: string;
  readonly dryRun?: true;
  readonly output: Format;
};

const createHere = (io: CliIo, options: CreateOptions): void => {
  const { role, name, output } = options;
  if (options.comment !== undefined || options.dryRun === true) {
    throw new CliFailure(EXIT.usage, "--comment and --dry-run go with --server: a line of the file has no comment");
  }
  mustFit(options);
  const token = createToken();
  const expires = options.for === undefined ? {} : { expires: Math.floor(io.epochMs()) + duration.parse(options.for) };
  const entry: TokenEntry = { name, role, sha256: hashOfToken(token), ...limitsIn(options), ...expires };
  const line = tokenLine(entry);
  if (output === "table")
    io.print(
      facts([
        ["token", token],
        ["line", line],
      ]),
    );
  else io.print(`${JSON.stringify({ token, line, ...entry }, null, output === "json" ? 2 : undefined)}\n`);
  tellOnce(io, role);
  io.tell("Add the line to admin.auth.tokens_file; the GTM reads it without a restart.\n");
};

const createThere = async (io: CliIo, options: CreateOptions, server: string): Promise<void> => {
  const { role, name, comment, dryRun, output } = options;
  if (options.for === undefined || comment === undefined) {
    throw new CliFailure(EXIT.usage, "with --server a token has an end and a reason: --for 30d --comment …");
  }
  mustFit(options);
  const client = createClient({ server, token: io.env["GTM_TOKEN"] });
  const { body } = await client.call({
    method: "POST",
    path: "/tokens",
    query: dryRun === true ? { dry_run: "true" } : {},
    body: { name, role, comment, for: options.for, ...limitsIn(options) },
  });
  printOne({ io, format: output }, body, TokenMade, (made) =>
    facts([...(made.token === null ? [] : [["token", made.token] as const]), ...tokenFacts(made)]),
  );
  if (dryRun !== true) tellOnce(io, role);
};

const mustFit = (options: CreateOptions): void => {
  const [fault] = limitFaults({ role: options.role, ...limitsIn(options) });
  if (fault === undefined) return;
  const message =
    fault.path === "names" ? "goes with --role acme only" : "does not go with --role acme, which takes --names";
  throw new CliFailure(EXIT.usage, `--${fault.path} ${message}`);
};

/** lego logs in with a name and a password. */
const OWN = { acme: "HTTPREQ_PASSWORD (and HTTPREQ_USERNAME to the name)", other: "GTM_TOKEN" } as const;

const tellOnce = (io: CliIo, role: Role): void =>
  io.tell(
    `The token is shown once: give it to its owner, who sets ${OWN[role === "acme" ? "acme" : "other"]} to it.\n`,
  );
