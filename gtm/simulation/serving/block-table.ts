/** From a block's hash to the block that holds it: open addressing in typed arrays, so that a copy is a copy of memory. */

export type BlockTable = {
  /** Block number + 1; 0: empty. */
  readonly slots: Int32Array;
  /** One a block; 0: this block's content has no name. */
  readonly hashes: Float64Array;
};

export const createBlockTable = (totalBlocks: number): BlockTable => {
  let size = 8;
  while (size < totalBlocks * 2) size *= 2;
  return { slots: new Int32Array(size), hashes: new Float64Array(totalBlocks) };
};

export const copyBlockTable = (table: BlockTable): BlockTable => ({
  slots: table.slots.slice(),
  hashes: table.hashes.slice(),
});

/** @returns the block's number; −1: no block holds this */
export const findBlock = ({ slots, hashes }: BlockTable, hash: number): number => {
  const mask = slots.length - 1;
  for (let at = hash & mask; ; at = (at + 1) & mask) {
    const block = (slots[at] ?? 0) - 1;
    if (block === -1 || hashes[block] === hash) return block;
  }
};

/** @param hash not in the table yet @param block without a name yet */
export const nameBlock = ({ slots, hashes }: BlockTable, hash: number, block: number): void => {
  const mask = slots.length - 1;
  let at = hash & mask;
  while (slots[at] !== 0) at = (at + 1) & mask;
  slots[at] = block + 1;
  hashes[block] = hash;
};

/** Forgets what a block held; nothing happens if it has no name. */
export const unnameBlock = ({ slots, hashes }: BlockTable, block: number): void => {
  const hash = hashes[block] ?? 0;
  if (hash === 0) return;
  hashes[block] = 0;
  const mask = slots.length - 1;
  let hole = hash & mask;
  while (slots[hole] !== block + 1) hole = (hole + 1) & mask;
  // Later entries of the same run move up, or a search would end at the hole.
  for (let at = (hole + 1) & mask; slots[at] !== 0; at = (at + 1) & mask) {
    const other = slots[at] ?? 0;
    const ideal = (hashes[other - 1] ?? 0) & mask;
    if (((at - ideal) & mask) < ((at - hole) & mask)) continue;
    slots[hole] = other;
    hole = at;
  }
  slots[hole] = 0;
};
