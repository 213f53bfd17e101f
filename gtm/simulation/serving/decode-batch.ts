/** Requests that write tokens together: all at the same pace, the slower the more they are. */

/**
 * The batch counts in tokens that a member present all the time would have written, `written`: a member that joined at
 * w and wants n more leaves at w + n, however the pace changes in between.
 */
export type DecodeBatch<T> = {
  written: number;
  /** Earliest to leave first. */
  readonly members: Member<T>[];
  /** Σ of the time that members spent waiting for a next token, ms. */
  waitedMs: number;
};

export type Member<T> = { readonly value: T; readonly joinedAt: number; readonly leavesAt: number };

export const createDecodeBatch = <T>(): DecodeBatch<T> => ({ written: 0, members: [], waitedMs: 0 });

/** @returns tokens that each member writes until the next one leaves; Infinity: there is none */
export const tokensToLeave = ({ members, written }: DecodeBatch<unknown>): number => {
  const [first] = members;
  return first === undefined ? Number.POSITIVE_INFINITY : Math.max(0, first.leavesAt - written);
};

/** @param tokens that each member writes in that time, no more than `tokensToLeave` */
export const passTime = (batch: DecodeBatch<unknown>, tokens: number, ms: number): void => {
  if (batch.members.length === 0) return;
  batch.written += tokens;
  batch.waitedMs += ms * batch.members.length;
};

/** @param tokens still to be written, at least 1 */
export const join = <T>(batch: DecodeBatch<T>, value: T, tokens: number): Member<T> => {
  const leavesAt = batch.written + tokens;
  let at = batch.members.length;
  while (at > 0 && (batch.members[at - 1]?.leavesAt ?? 0) > leavesAt) at -= 1;
  const member = { value, joinedAt: batch.written, leavesAt };
  batch.members.splice(at, 0, member);
  return member;
};

/** Takes out the member that has written all it wanted. */
export const leave = <T>(batch: DecodeBatch<T>): T | null => {
  const first = batch.members.shift();
  if (first === undefined) return null;
  // What rounding left over would otherwise pass as a token still missing.
  batch.written = Math.max(batch.written, first.leavesAt);
  return first.value;
};

/** Takes out a member that goes before its time. */
export const removeMember = <T>(batch: DecodeBatch<T>, member: Member<T>): void => {
  batch.members.splice(batch.members.indexOf(member), 1);
};

/** Whole tokens that a member has written since it joined. */
export const memberWrote = (batch: DecodeBatch<unknown>, member: Member<unknown>): number =>
  Math.floor(Math.min(batch.written, member.leavesAt) - member.joinedAt + ROUNDING);

/** Far less than a token, far more than what adding up fractions loses. */
export const ROUNDING = 1e-6;
