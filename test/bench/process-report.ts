/** What a process under measurement says of itself when it is asked. */

export type ProcessReport = {
  readonly rssBytes: number;
  /** Of all its threads, since it began. */
  readonly cpuMicroseconds: number;
};

export const processReport = (): ProcessReport => {
  const { user, system } = process.cpuUsage();
  return { rssBytes: process.memoryUsage.rss(), cpuMicroseconds: user + system };
};
