/**
 * Tickets: what a redirect carries so that a client's credentials arrive although the client drops them on the way.
 * A compact JWE (RFC 7516): `dir`, A256GCM, a key of one region; bound to method, host and path; 15 s, for one use.
 */
import { createCipheriv, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { type CompactJWEHeaderParameters, compactDecrypt } from "jose";
import type { RegionId } from "./ids.ts";
import { currentFirst, type KeyRing } from "./key-ring.ts";
import { SealedClaims, TicketClaims } from "./ticket-claims.ts";
import { ticketKeyId, ticketKeyOf } from "./ticket-keys.ts";
import { createTicketMemory, type RememberTicket } from "./ticket-memory.ts";
import type { TicketRefusal } from "./ticket-refusal.ts";

export { TicketClaims };

/** The parameter of a redirect's query that is the ticket. */
export const TICKET_PARAMETER = "gtm_ticket";
export const TICKET_LIFE_S = 15;
/** How far the clocks may be apart beyond that. */
export const TICKET_LEEWAY_S = 5;

/** What a gateway may be asked to read; the front makes none above 6 KB. */
const MOST_CHARACTERS = 16_384;
/** Five parts, of which `dir` leaves the second empty (RFC 7516 §7.1); the vector has 96 bits, the tag 128 (RFC 7518 §5.3). */
const PARTS = 5;
const VECTOR_CHARACTERS = 16;
const TAG_CHARACTERS = 22;
const VECTOR_OCTETS = 12;
const JTI_OCTETS = 12;
const DRAWN_OCTETS = VECTOR_OCTETS + JTI_OCTETS;
const TICKETS_A_DRAW = 128;
const MOST_REGIONS = 1_000;

export type TicketSealer = {
  /** @returns ASCII that needs no escape in a query */
  readonly seal: (region: RegionId, claims: TicketClaims, nowEpochMs: number) => Promise<string>;
};

/** What is asked of the gateway, in the words of the request. */
export type AskedTarget = {
  readonly method: string;
  /** Of the Host header; letter case, a final dot and the schemes' own ports are ignored. */
  readonly host: string;
  /** Path and query without the ticket. */
  readonly path: string;
};

export type TicketOpening =
  /** `expiresAtMs`: epoch ms, without leeway. */
  { readonly kind: "opened"; readonly claims: TicketClaims; readonly expiresAtMs: number } | TicketRefusal;

export type TicketOpener = {
  /** Reads any string and never throws. */
  readonly open: (text: string, asked: AskedTarget, nowEpochMs: number) => Promise<TicketOpening>;
};

export type TicketOpenerRules = {
  /** Of this region, by key id: `regionTicketKeysIn`, or `ticketKeysById`. */
  readonly keys: ReadonlyMap<string, Uint8Array>;
  readonly region: RegionId;
  /** Of tickets that were opened; one that outlives the opener where keys are read again. */
  readonly memory?: { readonly remember: RememberTicket };
};

type Read = { readonly kind: "genuine"; readonly sealed: SealedClaims } | TicketRefusal;
type Seal = { readonly head: string; readonly headOctets: Buffer; readonly key: KeyObject };

/**
 * The JWE is put together here: jose, by way of Web Crypto's threads, takes four times the processor time of this
 * (test/bench/http-ticket.bench.ts). Opening is jose's.
 *
 * @param ring of the GTMs; its current key seals
 */
export const createTicketSealer = (ring: KeyRing): TicketSealer => {
  const [current] = currentFirst(ring);
  const seals = new Map<RegionId, Seal>();
  /** Drawn in one go: a call of its own for each ticket costs as much as the sealing. */
  let random = Buffer.alloc(0);
  const drawn = (): Buffer => {
    if (random.length === 0) random = randomBytes(TICKETS_A_DRAW * DRAWN_OCTETS);
    const own = random.subarray(0, DRAWN_OCTETS);
    random = random.subarray(DRAWN_OCTETS);
    return own;
  };

  const sealOf = (region: RegionId): Seal => {
    const known = seals.get(region);
    if (known !== undefined) return known;
    const header = JSON.stringify({ alg: "dir", enc: "A256GCM", kid: ticketKeyId(region, current.id) });
    const head = Buffer.from(header).toString("base64url");
    const made = { head, headOctets: Buffer.from(head), key: createSecretKey(ticketKeyOf(current.key, region)) };
    if (seals.size < MOST_REGIONS) seals.set(region, made);
    return made;
  };

  return {
    seal: async (region, claims, nowEpochMs) => {
      const { head, headOctets, key } = sealOf(region);
      const own = drawn();
      const vector = own.subarray(0, VECTOR_OCTETS);
      // Rounded outwards, so that a clock 20 s ahead leaves the ticket a second for its way.
      const sealed: SealedClaims = {
        ...claims,
        iat: Math.floor(nowEpochMs / 1_000),
        exp: Math.ceil(nowEpochMs / 1_000) + TICKET_LIFE_S,
        jti: own.toString("base64url", VECTOR_OCTETS),
      };
      const cipher = createCipheriv("aes-256-gcm", key, vector);
      cipher.setAAD(headOctets);
      const octets = cipher.update(JSON.stringify(sealed), "utf8");
      // Of a stream cipher nothing is left; it makes the tag.
      cipher.final();
      const parts = [vector, octets, cipher.getAuthTag()].map((part) => part.toString("base64url"));
      return `${head}..${parts.join(".")}`;
    },
  };
};

export const createTicketOpener = ({
  keys,
  region,
  memory = createTicketMemory(),
}: TicketOpenerRules): TicketOpener => {
  const keyOf = (kid: unknown): Uint8Array => {
    const key = typeof kid === "string" && kid.startsWith(`${region}.`) ? keys.get(kid) : undefined;
    if (key === undefined) throw new UnknownKey();
    return key;
  };

  const read = async (text: string): Promise<Read> => {
    try {
      const { plaintext } = await compactDecrypt(text, ({ kid }: CompactJWEHeaderParameters) => keyOf(kid), ALGORITHMS);
      const claims = SealedClaims.safeParse(JSON.parse(Buffer.from(plaintext).toString()));
      return claims.success ? { kind: "genuine", sealed: claims.data } : MALFORMED;
    } catch (fault) {
      // Whatever else jose says of a stranger's string: it is none that we sealed.
      return fault instanceof UnknownKey ? { kind: "refused", reason: "unknown-key" } : MALFORMED;
    }
  };

  const openFormed: TicketOpener["open"] = async (text, asked, nowEpochMs) => {
    const found = await read(text);
    if (found.kind === "refused") return found;
    const { iat, exp, jti, ...claims } = found.sealed;
    const outOfTime = faultOfTime(iat, exp, nowEpochMs);
    if (outOfTime !== null) return outOfTime;
    if (claims.method !== asked.method || claims.host !== hostNameOf(asked.host) || claims.path !== asked.path) {
      return { kind: "refused", reason: "other-target" };
    }
    // A ticket of a clock that is behind lasts until that clock says so: remembered by this one's.
    const untilMs = (exp + TICKET_LEEWAY_S + 1) * 1_000;
    if (!(await memory.remember(jti, untilMs, nowEpochMs))) return { kind: "refused", reason: "replayed" };
    return { kind: "opened", claims, expiresAtMs: exp * 1_000 };
  };

  return {
    open: (text, asked, nowEpochMs) =>
      text.length <= MOST_CHARACTERS && isFormed(text.split("."))
        ? openFormed(text, asked, nowEpochMs)
        : Promise.resolve(MALFORMED),
  };
};

class UnknownKey extends Error {}

const isFormed = (parts: readonly string[]): boolean =>
  parts.length === PARTS &&
  parts[1] === "" &&
  parts[2]?.length === VECTOR_CHARACTERS &&
  parts[4]?.length === TAG_CHARACTERS &&
  parts.every(isSpeltOnce);

/** A ticket has one spelling: base64 leaves bits unused at the end of a part, and decoders do not look at them. */
const isSpeltOnce = (part: string): boolean => Buffer.from(part, "base64url").toString("base64url") === part;

const MALFORMED: TicketRefusal = { kind: "refused", reason: "malformed" };
const ALGORITHMS = { keyManagementAlgorithms: ["dir"], contentEncryptionAlgorithms: ["A256GCM"] };

/** Whole seconds; 20 s to either side of the moment at which it was sealed. */
const faultOfTime = (iat: number, exp: number, nowEpochMs: number): TicketRefusal | null => {
  const now = Math.floor(nowEpochMs / 1_000);
  if (now > exp + TICKET_LEEWAY_S) return { kind: "refused", reason: "expired", byMs: nowEpochMs - exp * 1_000 };
  if (now < iat - TICKET_LIFE_S - TICKET_LEEWAY_S) {
    return { kind: "refused", reason: "not-yet", byMs: iat * 1_000 - nowEpochMs };
  }
  return null;
};

/** As `URL.host` has it. */
const hostNameOf = (host: string): string => host.toLowerCase().replace(/\.?(?::(?:443|80))?$/, "");
