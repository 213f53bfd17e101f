/** `gtm token create`: makes a token for the admin API, and the line by which the GTM knows it. */
import { Command, InvalidArgumentError, Option } from "commander";
import { createToken, hashOfToken } from "#gtm/wire/admin/token.ts";
import { ActorName, Role, tokenLine } from "#gtm/wire/admin/tokens-file.ts";
import { type Format, formatOption, withExamples } from "./api-command.ts";
import type { CliIo } from "./io.ts";
import { facts } from "./table.ts";

export const tokenCommand = (io: CliIo): Command =>
  new Command("token").description("tokens of the admin API").addCommand(createCommand(io));

const createCommand = (io: CliIo): Command =>
  withExamples(
    new Command("create").description("make a token; the GTM keeps only its hash, in admin.auth.tokens_file"),
    ["token create --role operator --name alice", "token create --role viewer --name grafana -o json"],
  )
    .addOption(
      new Option("--role <role>", "viewer reads, operator orders too, admin may do everything")
        .choices(Role.options)
        .makeOptionMandatory(),
    )
    .requiredOption("--name <name>", "whose it is; orders and logs name it", aName)
    .addOption(formatOption())
    .action(({ role, name, output }: { role: Role; name: string; output: Format }) => {
      const token = createToken();
      const entry = { name, role, sha256: hashOfToken(token) };
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
        "The token is shown once: give it to its owner, who sets GTM_TOKEN to it.\nAdd the line to admin.auth.tokens_file; the GTM reads it without a restart.\n",
      );
    });

const aName = (text: string): string => {
  const name = ActorName.safeParse(text);
  if (name.success) return name.data;
  throw new InvalidArgumentError(`It ${name.error.issues[0]?.message ?? "is no name"}.`);
};
