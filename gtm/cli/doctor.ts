/** `gtm doctor`: looks at everything that a GTM depends on, and says of each fault what mends it. */
import { Command } from "commander";
import { type GtmConfig, loadGtmConfig } from "#gtm/config.ts";
import type { Running } from "#gtm/doctor/running.ts";
import { systemClock } from "#shared/clock.ts";
import { formatOption, withExamples } from "./api-command.ts";
import { createClient } from "./client.ts";
import { type Format, findingsText } from "./doctor-text.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";

type Wishes = { readonly config: string; readonly server?: string; readonly output: Format };

/** Of each subject; with what is done before and after, the whole ends within ten seconds. */
const SUBJECT_DEADLINE_MS = 6_500;
const SERVER_DEADLINE_MS = 3_000;
const PAUSE_MS = 250;

export const doctorCommand = (io: CliIo): Command =>
  withExamples(
    new Command("doctor").description(
      "look at the store, clocks, agents, instances, orders, keys, certificates, geography, name servers, listeners and the running GTM, and say what mends each fault (exit 7 when there is a problem)",
    ),
    [
      "doctor --config /etc/llm-gtm/gtm.yaml",
      "doctor --config /etc/llm-gtm/gtm.yaml --server http://127.0.0.1:9443",
      "doctor --config /etc/llm-gtm/gtm.yaml -o json",
    ],
  )
    .requiredOption("--config <file>", "the configuration that the GTM runs with")
    .option(
      "--server <url>",
      "address of the admin API of a GTM that has to run; without it the configuration's is tried",
    )
    .addOption(formatOption())
    .action((wishes: Wishes) => doctor(io, wishes));

const doctor = async (io: CliIo, { config: path, server, output }: Wishes): Promise<void> => {
  const config = loadGtmConfig(path, io.env);
  const client = createClient({ server: server ?? adminServer(config), token: io.env["GTM_TOKEN"] });
  // Only who asks for it waits until the store's client is read.
  const [{ createContext }, { examine }, { SUBJECTS }, { RunningStatus }] = await Promise.all([
    import("#gtm/doctor/context.ts"),
    import("#gtm/doctor/examine.ts"),
    import("#gtm/doctor/subjects.ts"),
    import("#gtm/doctor/running.ts"),
  ]);
  const askRunning = async (): Promise<Running> => {
    try {
      const body = await bodyOf(client.call({ method: "GET", path: "/status" }));
      const status = RunningStatus.safeParse(body);
      if (status.success) return { kind: "answered", server: client.server, status: status.data };
      return { kind: "failed", server: client.server, why: "it answers as another version does" };
    } catch (failure) {
      if (!(failure instanceof CliFailure)) throw failure;
      return { kind: "failed", server: client.server, why: shortened(failure.message) };
    }
  };
  const context = createContext({
    ...{ config, clock: systemClock, askRunning, isGtmAskedFor: server !== undefined },
    pause: () => io.sleep(PAUSE_MS),
  });
  io.tell(`Looking at ${SUBJECTS.map(({ name }) => name).join(", ")}.\n`);
  try {
    const examined = await examine(SUBJECTS, context, {
      deadlineMs: SUBJECT_DEADLINE_MS,
      onDone: ({ subject, findings }) => io.tell(`  ${subject}: ${findings[0]?.severity ?? "nothing to look at"}\n`),
    });
    io.print(findingsText(examined, output, io.isColourful));
    if (examined.some(({ findings }) => findings.some(({ severity }) => severity === "problem"))) {
      throw new CliFailure(EXIT.problemsFound, "");
    }
  } finally {
    await context.close();
  }
};

/** The address and what to do stand beside it. */
const shortened = (message: string): string =>
  message
    .replace(/^cannot reach the GTM at \S+: /, "")
    .replace(/ Does it run\?.*$/, "")
    .replace(/\.$/, "");

/** Where the configuration lets it listen, as this host reaches it. */
const adminServer = ({ admin: { listen } }: GtmConfig): string => {
  const host = listen.address === "0.0.0.0" ? "127.0.0.1" : listen.address === "::" ? "::1" : listen.address;
  return `http://${host.includes(":") ? `[${host}]` : host}:${listen.port}`;
};

const bodyOf = async (calling: Promise<{ readonly body: unknown }>): Promise<unknown> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const failure = new CliFailure(EXIT.unreachable, `no answer within ${SERVER_DEADLINE_MS / 1_000} s`);
    timer = setTimeout(() => reject(failure), SERVER_DEADLINE_MS);
  });
  try {
    return (await Promise.race([calling, late])).body;
  } finally {
    clearTimeout(timer);
  }
};
