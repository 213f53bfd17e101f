/** Numbers in the words that the page and the command line share. */

/** "0.7 s", "42 s", "3 min", "2 h 5 min", "3 d 4 h". @param ms below 0 counts as 0 */
export const ageText = (ms: number): string => {
  const seconds = Math.max(0, ms) / 1_000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 119.5) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
};

/** "2026-11-30 04:02:11Z" */
export const instant = (iso: string): string => iso.replace("T", " ").replace(/\.\d+Z$/, "Z");
