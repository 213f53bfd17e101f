/** The command line as a process of its own, without a GTM to serve. */
import { createCommand, runCommand } from "#gtm/cli/command.ts";
import { processIo } from "#gtm/cli/io.ts";
import { OperationalError } from "#shared/errors.ts";

const io = processIo(process);
const program = createCommand(io, {
  version: "0.1.0",
  configSchema: async () => ({ type: "object" }),
  checkConfig: (path) => {
    if (path.endsWith("good.yaml")) return { summary: "1 region, 1 pool.", warnings: [] };
    throw new OperationalError("GTM_CONFIG_INVALID", `${path}:1:1: version: expected 1\n${path}:2:1: zone: missing`);
  },
  serve: async ({ config }) => (config.endsWith("good.yaml") ? 0 : 143),
});
process.exitCode = await runCommand(program, process.argv.slice(2), io);
