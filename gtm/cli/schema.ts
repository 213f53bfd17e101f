/** `gtm schema`: the form of the configuration for editors, `# yaml-language-server: $schema=gtm.schema.json`. */
import { Command } from "commander";
import { withExamples } from "./api-command.ts";
import type { CliIo } from "./io.ts";

/** @param schema JSON Schema, made when it is asked for */
export const schemaCommand = (io: CliIo, schema: () => Promise<object>): Command =>
  withExamples(new Command("schema").description("print the form of the configuration as JSON Schema, draft 2020-12"), [
    "schema > gtm.schema.json",
  ]).action(async () => {
    io.print(`${JSON.stringify(await schema(), null, 2)}\n`);
  });
