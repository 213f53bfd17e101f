/** Which histograms are read bucket by bucket: the time to the first token, under whatever name; of all others sum and count do. */

const BUCKET = "_bucket";
const FIRST_TOKEN = "time_to_first_token";

/** @param aliases as the configuration has them: what stands for a known name may be a histogram that is read */
export const isReadByBucket =
  (aliases: Readonly<Record<string, string>>) =>
  (name: string): boolean =>
    !name.endsWith(BUCKET) ||
    name.includes(FIRST_TOKEN) ||
    Object.hasOwn(aliases, name) ||
    Object.hasOwn(aliases, name.slice(0, -BUCKET.length));
