/** Looks at every subject at once, and ends in time whatever hangs. */
import { OperationalError } from "#shared/errors.ts";
import type { DoctorContext } from "./context.ts";
import { type Finding, unknown, worstFirst } from "./finding.ts";
import type { Subject } from "./subject.ts";

export type Examined = {
  readonly subject: string;
  /** The worst first. */
  readonly findings: readonly Finding[];
};

export type ExamineOptions = {
  /** Of every subject. */
  readonly deadlineMs: number;
  readonly onDone: (examined: Examined) => void;
};

/** @throws {Error} a bug in a subject; that the surroundings fail is a finding */
export const examine = (
  subjects: readonly Subject[],
  context: DoctorContext,
  { deadlineMs, onDone }: ExamineOptions,
): Promise<readonly Examined[]> =>
  Promise.all(
    subjects.map(async (subject): Promise<Examined> => {
      const findings = await within(lookAt(subject, context), deadlineMs, subject.name);
      const examined = { subject: subject.name, findings: worstFirst(findings) };
      onDone(examined);
      return examined;
    }),
  );

const lookAt = async ({ name, look }: Subject, context: DoctorContext): Promise<readonly Finding[]> => {
  try {
    return await look(context);
  } catch (fault) {
    if (!(fault instanceof OperationalError)) throw fault;
    return [unknown(UNFINISHED, `The ${name} could not be looked at: ${fault.message}.`)];
  }
};

const UNFINISHED = "not-looked-at";

const within = async (
  looking: Promise<readonly Finding[]>,
  deadlineMs: number,
  name: string,
): Promise<readonly Finding[]> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly Finding[]>((resolve) => {
    const what = `The ${name} could not be looked at within ${deadlineMs / 1_000} s: something hangs.`;
    timer = setTimeout(() => resolve([unknown(UNFINISHED, what)]), deadlineMs);
  });
  try {
    return await Promise.race([looking, late]);
  } finally {
    clearTimeout(timer);
  }
};
