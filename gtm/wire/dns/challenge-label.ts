/** The label in front of names at which challenges of certificate authorities are answered (RFC 8555 §8.4). */
import { encodeName, foldOctet, matchesName } from "./name.ts";

export const CHALLENGE_LABEL = "_acme-challenge";
const FOLDED = encodeName(CHALLENGE_LABEL).map(foldOctet).subarray(0, -1);

/** @param at where a label begins */
export const isChallengeLabel = (octets: Uint8Array, at: number): boolean => matchesName(octets, at, FOLDED);
