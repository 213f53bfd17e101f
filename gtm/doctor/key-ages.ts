/** How long keys have been in use, and whether a change of them was begun and not ended. Pure. */
import type { Keys } from "#gtm/keys/key-files.ts";
import type { KeyRing } from "#shared/key-ring.ts";
import { type Finding, ok, warning } from "./finding.ts";

const DAY_MS = 86_400_000;
/** A year: what is signed is public, and whoever had the key once has it for ever. */
const OLD_DAYS = 365;
/** An old or a next key is needed for as long as labels live and GTMs take to be given it: days, not months. */
const LINGERING_DAYS = 30;

export const keyAgeFindings = (keys: Keys, nowMs: number): readonly Finding[] => {
  const rings: readonly (readonly [kind: string, ring: KeyRing])[] = [
    ...(keys.signing === null ? [] : [["signing", keys.signing] as const]),
    ...(keys.ticket === null ? [] : [["ticket", keys.ticket] as const]),
    ...(keys.cookie === null ? [] : [["cookie", keys.cookie] as const]),
    ...[...(keys.reports ?? [])].map(([region, ring]) => [`report key of ${region}`, ring] as const),
  ];
  const faults = rings.flatMap(([kind, ring]) => ringFindings(kind, ring, nowMs));
  if (rings.length === 0 || faults.length > 0) return faults;
  const oldest = Math.max(...rings.map(([, ring]) => daysOf(currentIn(ring), nowMs)));
  return [ok("keys-age", `Every key in use is younger than a year, the oldest ${oldest} days.`)];
};

const ringFindings = (kind: string, ring: KeyRing, nowMs: number): readonly Finding[] => {
  const name = kind.includes(" ") ? kind : `${kind} key`;
  const days = daysOf(currentIn(ring), nowMs);
  const rotate = `\`gtm keys rotate\` changes it in steps, in which no label is lost: see \`gtm keys rotate --help\`.`;
  return [
    ...(days > OLD_DAYS ? [warning("keys-old", `The ${name} has been in use for ${days} days.`, rotate)] : []),
    ...ring
      .filter(({ state, madeAtMs }) => state === "next" && (nowMs - madeAtMs) / DAY_MS > LINGERING_DAYS)
      .map(() =>
        warning(
          "keys-unfinished",
          `A next ${name} was made more than ${LINGERING_DAYS} days ago and never used.`,
          rotate,
        ),
      ),
  ];
};

const currentIn = (ring: KeyRing): number => ring.find(({ state }) => state === "current")?.madeAtMs ?? Number.NaN;

const daysOf = (madeAtMs: number, nowMs: number): number =>
  Number.isNaN(madeAtMs) ? 0 : Math.max(0, Math.floor((nowMs - madeAtMs) / DAY_MS));
