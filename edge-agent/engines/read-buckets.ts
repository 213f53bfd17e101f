/** Which histograms are read bucket by bucket: the time to the first token, under whatever name; of all others sum and count do. */

const BUCKET = "_bucket";
const FIRST_TOKEN = "time_to_first_token";

type Aliases = Readonly<Record<string, string>>;
type IsRead = (name: string) => boolean;

const known = new WeakMap<Aliases, IsRead>();

/**
 * @param aliases as the configuration has them: what stands for a known name may be a histogram that is read
 * @returns one function for one object of aliases: pages are remembered by it
 */
export const isReadByBucket = (aliases: Aliases): IsRead => {
  const isRead = known.get(aliases) ?? isReadBeside(aliases);
  known.set(aliases, isRead);
  return isRead;
};

const isReadBeside =
  (aliases: Aliases): IsRead =>
  (name) =>
    !name.endsWith(BUCKET) ||
    name.includes(FIRST_TOKEN) ||
    Object.hasOwn(aliases, name) ||
    Object.hasOwn(aliases, name.slice(0, -BUCKET.length));
