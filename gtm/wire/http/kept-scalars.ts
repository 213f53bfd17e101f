/** The values of wanted members, kept as they are written until somebody asks: of a member that comes twice the last counts. */
import type { Member, Wanted } from "./member-paths.ts";

export type Scalar = string | number | boolean | null;

export type KeptScalars = {
  readonly keep: (slot: number, chunk: Buffer, from: number, end: number, isString: boolean) => void;
  /** The value has more octets than any name. */
  readonly giveUp: (slot: number) => void;
  /** The member comes again: what it and its members held no longer counts. */
  readonly forget: (member: Member) => void;
  /** What a slot holds, which holds nothing then; undefined: nothing, or no JSON. */
  readonly take: (slot: number) => Scalar | undefined;
  /** By path; what is no JSON is left out. */
  readonly values: () => Map<string, Scalar>;
  readonly tooLong: () => ReadonlySet<string>;
};

type Kept = { octets: Buffer; length: number; state: "none" | "string" | "literal" | "too-long" };

const LEAST_OCTETS = 64;
/** Shorter than this a loop beats the native copy. */
const LOOP_OCTETS = 48;

const NONE: ReadonlySet<string> = new Set();

export const createKeptScalars = ({ paths }: Pick<Wanted, "paths">): KeptScalars => {
  const slots: (Kept | undefined)[] = [];
  const at = (slot: number): Kept => {
    const known = slots[slot];
    if (known !== undefined) return known;
    const made: Kept = { octets: Buffer.allocUnsafe(LEAST_OCTETS), length: 0, state: "none" };
    slots[slot] = made;
    return made;
  };
  const forgetSlot = (slot: number | null): void => {
    const kept = slot === null ? undefined : slots[slot];
    if (kept !== undefined) kept.state = "none";
  };
  return {
    // Copied, or a name of ten octets would hold a chunk of 64 KB; in place, or a hostile body would make garbage of each.
    keep: (slot, chunk, from, end, isString) => {
      const kept = at(slot);
      const length = end - from;
      if (length > kept.octets.length) kept.octets = Buffer.allocUnsafe(2 * length);
      if (length > LOOP_OCTETS) chunk.copy(kept.octets, 0, from, end);
      else for (let i = 0; i < length; i++) kept.octets[i] = chunk[from + i] ?? 0;
      kept.length = length;
      kept.state = isString ? "string" : "literal";
    },
    giveUp: (slot) => {
      at(slot).state = "too-long";
    },
    forget: (member) => {
      forgetSlot(member.slot);
      if (member.children !== null) for (const child of member.children.byName.values()) forgetSlot(child.slot);
    },
    take: (slot) => {
      const kept = slots[slot];
      const value = kept === undefined ? undefined : valueIn(kept);
      forgetSlot(slot);
      return value;
    },
    values: () => {
      const values = new Map<string, Scalar>();
      for (let slot = 0; slot < paths.length; slot++) {
        const kept = slots[slot];
        const value = kept === undefined ? undefined : valueIn(kept);
        if (value !== undefined) values.set(paths[slot] ?? "", value);
      }
      return values;
    },
    tooLong: () => {
      if (!slots.some((kept) => kept?.state === "too-long")) return NONE;
      return new Set(paths.filter((_, slot) => slots[slot]?.state === "too-long"));
    },
  };
};

const valueIn = ({ octets, length, state }: Kept): Scalar | undefined => {
  if (state === "none" || state === "too-long") return undefined;
  const text = octets.toString("utf8", 0, length);
  if (state === "string" && !text.includes("\\")) return text;
  try {
    return JSON.parse(state === "string" ? `"${text}"` : text);
  } catch {
    return undefined;
  }
};
