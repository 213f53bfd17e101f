/** `gtm health`: asks the metrics listener whether the GTM is ready; for container health checks. */
import { Command } from "commander";
import { z } from "zod";
import { withExamples } from "./api-command.ts";
import { unreachable } from "./client.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";

const Readiness = z.looseObject({
  state: z.string(),
  degradedSince: z.string().nullable(),
  reasons: z.array(z.string()),
});

const DEADLINE_MS = 5_000;

export const healthCommand = (io: CliIo): Command =>
  withExamples(
    new Command("health").description("say whether the GTM is ready (exit 0), also when degraded; not ready is exit 1"),
    ["health", "health --metrics-server http://127.0.0.1:9153"],
  )
    .option("--metrics-server <url>", "address of the metrics listener", "http://127.0.0.1:9153")
    .action(async ({ metricsServer }: { metricsServer: string }) => {
      const readiness = await readinessOf(metricsServer);
      const { state, degradedSince, reasons } = readiness;
      io.print(`${state}${degradedSince === null ? "" : ` since ${degradedSince}`}\n`);
      for (const reason of reasons) io.print(`  ${reason}\n`);
      if (state === "not-ready") throw new CliFailure(EXIT.error, "the GTM is not ready");
    });

const readinessOf = async (server: string): Promise<z.infer<typeof Readiness>> => {
  if (!URL.canParse("/readyz?verbose", server)) {
    throw new CliFailure(
      EXIT.usage,
      `--metrics-server: expected an address such as http://127.0.0.1:9153, found ${server}`,
    );
  }
  const url = new URL("/readyz?verbose", server);
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(DEADLINE_MS), redirect: "error" });
    const parsed = Readiness.safeParse(await response.json());
    if (parsed.success) return parsed.data;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw unreachable(url.origin, error, "--metrics-server");
  }
  throw new CliFailure(
    EXIT.error,
    `what answers at ${url.origin} is not the metrics listener of a GTM; check --metrics-server`,
  );
};
