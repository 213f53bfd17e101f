/** A terminal for tests: what a command printed and told, and answers to its questions. */
import { createCommand, runCommand } from "#gtm/cli/command.ts";
import type { CliIo } from "#gtm/cli/io.ts";
import { OperationalError } from "#shared/errors.ts";

export type Ran = { readonly exitCode: number; readonly out: string; readonly err: string };

export type Terminal = {
  readonly env?: Readonly<Record<string, string>>;
  /** What somebody types; absent: nobody is there. */
  readonly answers?: readonly string[];
  /** Happens while the question is being asked. */
  readonly onAsk?: () => Promise<unknown>;
  readonly isColourful?: boolean;
  /** Absent: it is no terminal. */
  readonly columns?: number;
  /** Called instead of waiting. */
  readonly onSleep?: (ms: number) => void;
};

export const runCli = async (words: readonly string[], terminal: Terminal = {}): Promise<Ran> => {
  let out = "";
  let err = "";
  let nowMs = 0;
  const answers = [...(terminal.answers ?? [])];
  const io: CliIo = {
    print: (text) => {
      out += text;
    },
    tell: (text) => {
      err += text;
    },
    isInteractive: terminal.answers !== undefined,
    isColourful: terminal.isColourful ?? false,
    columns: terminal.columns ?? null,
    ask: async (question) => {
      err += question;
      await terminal.onAsk?.();
      return answers.shift() ?? "";
    },
    env: terminal.env ?? {},
    epochMs: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms;
      terminal.onSleep?.(ms);
    },
  };
  const program = createCommand(io, {
    version: "0.1.0",
    configSchema: async () => ({ type: "object" }),
    checkConfig: (path) => {
      if (path.endsWith("good.yaml")) return { summary: "1 region, 1 pool.", warnings: [] };
      throw new OperationalError("GTM_CONFIG_INVALID", `${path}:1:1: version: expected 1\n${path}:2:1: zone: missing`);
    },
    serve: async ({ config }) => (config.endsWith("good.yaml") ? 0 : 143),
  });
  return { exitCode: await runCommand(program, words, io), out, err };
};
