/** What mends what is wrong with an agent: the same words in the admin API, on the page and from the doctor. */

export const AGENT_REMEDIES = {
  start: (region: string): string =>
    `Start one beside its engines with \`region: ${region}\` and this store: \`edge-agent check --config FILE\`, then \`run\`.`,
  missing: "Start it, or wait: ten minutes after its last report it is taken off the list.",
  stale: "Look at its log: agents report each second, and say why where they cannot.",
  clock: "Let NTP set its host's clock: `timedatectl set-ntp true`.",
  unsigned: (region: string): string =>
    `\`gtm keys init\` makes a key for ${region}: name the files in keys.reports_file here and in report.key_file there.`,
  version: "End the upgrade: run the same version everywhere, GTMs before agents.",
} as const;

/** @param reason why a report was refused (gtm_reports_refused_total) */
export const refusalRemedy = (reason: string, region: string): string => {
  switch (reason) {
    case "signature":
      return `Give it the key that \`gtm keys list\` shows for ${region}: report.key_file of its configuration; or somebody lies.`;
    case "version":
      return "Upgrade the GTMs before the agents.";
    case "too-many":
      return "Find who writes so many reports of this region to the store: one agent reads many engines.";
    case "time-to-live":
      return "Find who else writes to gtm:v1:report:*: agents let their reports end after 30 s.";
    default:
      return "Look what it is: `edge-agent scrape --once` prints what an agent would report.";
  }
};
