/** What a command may touch of the outside: two streams, a person to ask, the environment, the time. */
import { createInterface } from "node:readline/promises";

export type CliIo = {
  /** Data; standard output. */
  readonly print: (text: string) => void;
  /** Messages for people; standard error. */
  readonly tell: (text: string) => void;
  /** Whether somebody is there to answer a question. */
  readonly isInteractive: boolean;
  /** Whether data may be coloured. */
  readonly isColourful: boolean;
  /** How many characters a line of data may have; null: any number, since it is no terminal. */
  readonly columns: number | null;
  readonly ask: (question: string) => Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly epochMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
};

type TerminalStream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
type Process = {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: TerminalStream;
  readonly stderr: TerminalStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly exit: (code: number) => void;
};

/** https://no-color.org: any value but the empty one. */
const isColourWanted = (env: Process["env"]): boolean => (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";

export const processIo = (process: Process): CliIo => {
  // A reader such as `head` that has seen enough closes the pipe: the command is done, not broken.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  return {
    print: (text) => {
      process.stdout.write(text);
    },
    tell: (text) => {
      process.stderr.write(text);
    },
    isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
    isColourful: process.stdout.isTTY === true && isColourWanted(process.env),
    columns: process.stdout.isTTY === true ? (process.stdout.columns ?? null) : null,
    ask: async (question) => {
      const lines = createInterface({ input: process.stdin, output: process.stderr });
      // Without an answer (end of input, or interrupted) it is a no.
      const ended = new Promise<null>((resolve) => lines.once("close", () => resolve(null)));
      try {
        const answer = await Promise.race([lines.question(question), ended]);
        if (answer === null) process.stderr.write("\n");
        return answer ?? "";
      } finally {
        lines.close();
      }
    },
    env: process.env,
    epochMs: Date.now,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
};
