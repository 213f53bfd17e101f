/** A command that talks to the admin API: its options, and how its answer is printed. */
import { Command, Option } from "commander";
import type { z } from "zod";
import { type Client, createClient } from "./client.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { Look } from "./fitted.ts";
import type { CliIo } from "./io.ts";

export type Format = "table" | "json" | "jsonl";
export type Invocation = {
  readonly client: Client;
  readonly io: CliIo;
  readonly format: Format;
  /** Of tables. */
  readonly look: Look;
};

export const DEFAULT_SERVER = "http://127.0.0.1:9443";

export const formatOption = (): Option =>
  new Option("-o, --output <format>", "how to print data").choices(["table", "json", "jsonl"]).default("table");

/** @param examples lines without the program's name, shown below the help */
export const apiCommand = (name: string, description: string, examples: readonly string[]): Command =>
  withExamples(new Command(name).description(description), examples)
    .option("--server <url>", "address of the admin API", DEFAULT_SERVER)
    .addOption(formatOption())
    .option("--wide", "tables with all their columns, however narrow the terminal");

export const withExamples = (command: Command, examples: readonly string[]): Command =>
  command.addHelpText("after", `\nExamples:\n${examples.map((line) => `  gtm ${line}`).join("\n")}`);

/** The token comes from GTM_TOKEN and never from an option, which others on the host could read. */
export const invocationOf = (command: Command, io: CliIo): Invocation => {
  const { server, output, wide } = command.opts<{ server: string; output: Format; wide?: true }>();
  const look = { isColourful: io.isColourful, columns: wide === true ? null : io.columns };
  return { client: createClient({ server, token: io.env["GTM_TOKEN"] }), io, format: output, look };
};

/** @throws {CliFailure} where the answer does not look like this version's */
export const understood = <S extends z.ZodType>(schema: S, body: unknown): z.output<S> => {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues.map((issue) => issue.path.join(".")).join(", ");
  throw new CliFailure(
    EXIT.error,
    `the GTM's answer is not what this version of gtm expects (${where}); -o json shows it`,
  );
};

/** One object: as JSON, or as the table that `render` makes of it. */
export const printOne = <S extends z.ZodType>(
  { io, format }: Pick<Invocation, "io" | "format">,
  body: unknown,
  schema: S,
  render: (value: z.output<S>) => string,
): void => {
  if (format === "json") io.print(`${JSON.stringify(body, null, 2)}\n`);
  else if (format === "jsonl") io.print(`${JSON.stringify(body)}\n`);
  else io.print(render(understood(schema, body)));
};

/** A list: JSON as it came, one item a line, or a table of all. */
export const printMany = <S extends z.ZodType>(
  { io, format, look }: Invocation,
  body: unknown,
  schema: S,
  render: (items: readonly z.output<S>[], look: Look) => string,
): void => {
  const { items } = listOf(body);
  if (format === "json") io.print(`${JSON.stringify(body, null, 2)}\n`);
  else if (format === "jsonl") io.print(items.map((item) => `${JSON.stringify(item)}\n`).join(""));
  else {
    io.print(
      render(
        items.map((item) => understood(schema, item)),
        look,
      ),
    );
    if (items.length === 0) io.tell("Nothing matches.\n");
  }
};

/** Tells how to see the next page, where there is one. */
export const tellMore = ({ io }: Invocation, body: unknown): void => {
  const { next_cursor: cursor } = listOf(body);
  if (cursor !== null) io.tell(`There is more: --cursor ${cursor}\n`);
};

const listOf = (body: unknown): { items: readonly unknown[]; next_cursor: string | null } => {
  if (typeof body === "object" && body !== null && "items" in body && Array.isArray(body.items)) {
    const cursor = "next_cursor" in body && typeof body.next_cursor === "string" ? body.next_cursor : null;
    return { items: body.items, next_cursor: cursor };
  }
  throw new CliFailure(EXIT.error, "the GTM's answer is not a list; -o json shows it");
};
