/** What a command may touch of the outside. */

export type CliIo = {
  /** Data; standard output. */
  readonly print: (text: string) => void;
  /** Messages for people; standard error. */
  readonly tell: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
};
