/** Who is announced is read at once, together with all who are announced in the same turn; announcements without end cost no more for it. */

/** At once; whoever else is announced is read by the next resync. */
const MOST_ANNOUNCED = 2_000;
/** From one reading to the next. */
const READ_EVERY_MS = 50;

export type ReportAnnouncements = { readonly hear: (member: string) => void; readonly stop: () => void };

/** @param read takes `region/agent`, each once */
export const createReportAnnouncements = (
  read: (members: readonly string[]) => Promise<void>,
  onFailed: (cause: unknown) => void,
): ReportAnnouncements => {
  const announced = new Set<string>();
  let pause: NodeJS.Timeout | null = null;

  const readAll = (): void => {
    const members = [...announced];
    announced.clear();
    read(members).catch(onFailed);
  };
  return {
    hear: (member) => {
      if (announced.size < MOST_ANNOUNCED) announced.add(member);
      if (pause !== null) return;
      setImmediate(readAll);
      pause = setTimeout(() => {
        pause = null;
        if (announced.size > 0) readAll();
      }, READ_EVERY_MS);
      pause.unref();
    },
    stop: () => {
      if (pause !== null) clearTimeout(pause);
      pause = null;
      announced.clear();
    },
  };
};
