/**
 * The text of key files. A line a key, words parted by blanks; `#` begins a comment line:
 * `id state made key`, and in the file of report keys `region id state made key`. Faults name the line and never what a word
 * says: where columns are swapped it may be the key.
 */
import { OperationalError } from "./errors.ts";
import { RegionId } from "./ids.ts";
import { faultOfRing, type KeyRing, type KeyState, MOST_ID, type RingKey } from "./key-ring.ts";
import { keyIn, keyText } from "./key-text.ts";

export type ReportRings = ReadonlyMap<RegionId, KeyRing>;

/** As many as ids. */
export const MOST_KEYS = MOST_ID + 1;
/** Each is tried in turn where a report's signature is wrong. */
export const MOST_REPORT_KEYS = 2;
/** What SipHash takes. */
export const COOKIE_KEY_OCTETS = 16;

const STATES: readonly KeyState[] = ["next", "current", "old"];
const MADE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const SHOWN_FAULTS = 10;

type Line = { readonly at: number; readonly words: readonly string[] };
type Fault = { readonly at: number; readonly message: string };

/** @throws {OperationalError} GTM_CONFIG_INVALID, `source:line: what was expected` a line */
export const identityKeyIn = (text: string, source: string): Uint8Array => {
  const lines = linesIn(text);
  const key = lines.length === 1 && lines[0]?.words.length === 1 ? keyIn(lines[0].words[0] ?? "") : null;
  if (key !== null) return key;
  const message = `expected one key, ${A_KEY}, on one line; found ${lines.length} lines that are no comment`;
  throw invalid([{ at: lines[0]?.at ?? 1, message }], source);
};

/** Of signing keys, and of the keys of tickets. @throws as identityKeyIn */
export const ringIn = (text: string, source: string): KeyRing => {
  const faults: Fault[] = [];
  const ring = linesIn(text).flatMap((line) => ringKeyIn(line, line.words, faults) ?? []);
  const fault = faults.length === 0 ? faultOfRing(ring) : null;
  if (fault !== null) faults.push({ at: 1, message: fault });
  if (faults.length > 0) throw invalid(faults, source);
  return ring;
};

/** Of secrets of DNS cookies, which have one length only (RFC 9018 §4.4). @throws as identityKeyIn */
export const cookieRingIn = (text: string, source: string): KeyRing => {
  const ring = ringIn(text, source);
  const wrong = ring.find(({ key }) => key.length !== COOKIE_KEY_OCTETS);
  if (wrong === undefined) return ring;
  const message = `expected keys of ${COOKIE_KEY_OCTETS} octets, found one of ${wrong.key.length} with the id ${wrong.id}`;
  throw invalid([{ at: 1, message }], source);
};

/** A file without a line has keys of no region. @throws as identityKeyIn */
export const reportRingsIn = (text: string, source: string): ReportRings =>
  regionRingsIn(text, source, faultOfReportRing);

/** Of tickets' keys that were derived for a region. @throws as identityKeyIn */
export const ticketRingsIn = (text: string, source: string): ReadonlyMap<RegionId, KeyRing> =>
  regionRingsIn(text, source, faultOfRing);

const regionRingsIn = (
  text: string,
  source: string,
  faultOf: (ring: KeyRing) => string | null,
): ReadonlyMap<RegionId, KeyRing> => {
  const faults: Fault[] = [];
  const found = linesIn(text).flatMap((line) => regionKeyIn(line, faults) ?? []);
  const byRegion = Map.groupBy(found, ({ region }) => region);
  const rings = new Map([...byRegion].map(([region, keys]) => [region, keys.map(({ key }) => key)] as const));
  // A ring that lacks faulty lines is not judged as a whole.
  if (faults.length === 0) {
    for (const [region, [first]] of byRegion) {
      const fault = faultOf(rings.get(region) ?? []);
      if (fault !== null) faults.push({ at: first?.at ?? 1, message: `${region}: ${fault}` });
    }
  }
  if (faults.length > 0) throw invalid(faults, source);
  return rings;
};

export const identityKeyText = (key: Uint8Array): string =>
  `# llm-gtm: makes the identities of conversations. Another key forgets all of them.\n${keyText(key)}\n`;

/** @param title what the keys are for */
export const ringText = (ring: KeyRing, title: string): string =>
  `# llm-gtm: ${title}\n# id state made key\n${ring.map((one) => `${ringKeyText(one)}\n`).join("")}`;

export const reportRingsText = (rings: ReportRings): string => {
  const lines = [...rings].flatMap(([region, ring]) => ring.map((one) => `${region} ${ringKeyText(one)}\n`));
  return `# llm-gtm: keys that sign the regions' reports\n# region id state made key\n${lines.join("")}`;
};

/** Such as "2026-11-30T04:02:11Z". */
export const madeText = (epochMs: number): string => new Date(epochMs).toISOString().replace(/\.\d+Z$/, "Z");

const A_KEY = "at least 16 octets in base64";

const linesIn = (text: string): readonly Line[] =>
  text
    .split(/\r?\n/)
    .map((line, at) => ({ at: at + 1, words: line.trim().split(/[ \t]+/) }))
    .filter(({ words }) => words[0] !== "" && words[0]?.startsWith("#") === false);

type RegionKey = { readonly at: number; readonly region: RegionId; readonly key: RingKey };

/** As ringKeyIn. */
const regionKeyIn = (line: Line, faults: Fault[]): RegionKey | null => {
  const [name = "", ...words] = line.words;
  const region = RegionId.safeParse(name);
  if (!region.success) faults.push({ at: line.at, message: "expected a region's name as the first word" });
  const key = ringKeyIn(line, words, faults, "a region, ");
  return region.success && key !== null ? { at: line.at, region: region.data, key } : null;
};

const faultOfReportRing = (ring: KeyRing): string | null =>
  ring.length > MOST_REPORT_KEYS
    ? `expected at most ${MOST_REPORT_KEYS} keys, found ${ring.length}`
    : faultOfRing(ring);

/** @returns null: the line has faults, which were added to `faults` */
const ringKeyIn = ({ at }: Line, words: readonly string[], faults: Fault[], first = ""): RingKey | null => {
  const [id = "", state = "", made = "", text = ""] = words;
  const key = keyIn(text);
  const madeAtMs = epochMsIn(made);
  const known = STATES.find((one) => one === state);
  const isId = /^\d{1,3}$/.test(id) && Number(id) <= MOST_ID;
  const found: string[] = [];
  if (words.length !== 4)
    found.push(`expected ${first}id, state, time and key, found ${words.length + (first === "" ? 0 : 1)} words`);
  else {
    if (!isId) found.push(`expected an id from 0 to ${MOST_ID}`);
    if (known === undefined) found.push(`expected ${STATES.join(", ")} as the state`);
    if (madeAtMs === null) found.push("expected a time such as 2026-11-30T04:02:11Z");
    if (key === null) found.push(`expected ${A_KEY} as the key`);
  }
  faults.push(...found.map((message) => ({ at, message })));
  if (found.length > 0 || known === undefined || madeAtMs === null || key === null) return null;
  return { id: Number(id), state: known, madeAtMs, key };
};

/** null: no time, or a day that no calendar has. */
const epochMsIn = (made: string): number | null => {
  const epochMs = MADE.test(made) ? Date.parse(made) : Number.NaN;
  return Number.isFinite(epochMs) && madeText(epochMs) === made ? epochMs : null;
};

/** A line of a ring, without what may stand in front of it. */
export const ringKeyText = ({ id, state, madeAtMs, key }: RingKey): string =>
  `${id} ${state} ${madeText(madeAtMs)} ${keyText(key)}`;

const invalid = (faults: readonly Fault[], source: string): OperationalError => {
  const shown = faults.slice(0, SHOWN_FAULTS).map(({ at, message }) => `${source}:${at}: ${message}`);
  const more = faults.length > SHOWN_FAULTS ? [`${source}: ${faults.length - SHOWN_FAULTS} faults more`] : [];
  return new OperationalError("GTM_CONFIG_INVALID", [...shown, ...more].join("\n"));
};
