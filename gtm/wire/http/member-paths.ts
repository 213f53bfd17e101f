/** Members of a JSON object that somebody wants, prepared once for many scans. */

export type MemberPath = {
  /** "model", or "metadata.session_id" for a member of a member. */
  readonly path: string;
  /** Whether the member itself is wanted, not only members of it. */
  readonly isWanted: boolean;
  /** Wanted members of this one, by name. */
  readonly children: MemberNames | null;
};

export type MemberNames = {
  readonly byName: ReadonlyMap<string, MemberPath>;
  /** Octets of the longest name, each written as \uXXXX. */
  readonly longestOctets: number;
  readonly lengths: ReadonlySet<number>;
};

/** @param paths at most one dot each; names are ASCII */
export const memberNames = (paths: readonly string[]): MemberNames => {
  const byName = new Map<string, MemberPath>();
  for (const name of new Set(paths.map((path) => path.split(".", 1)[0] ?? path))) {
    const inner = paths.filter((path) => path.startsWith(`${name}.`)).map((path) => path.slice(name.length + 1));
    byName.set(name, { path: name, isWanted: paths.includes(name), children: childrenOf(name, inner) });
  }
  return namesOf(byName);
};

const childrenOf = (parent: string, names: readonly string[]): MemberNames | null =>
  names.length === 0
    ? null
    : namesOf(new Map(names.map((name) => [name, { path: `${parent}.${name}`, isWanted: true, children: null }])));

const ESCAPED_OCTETS = 6;

const namesOf = (byName: ReadonlyMap<string, MemberPath>): MemberNames => {
  const lengths = new Set([...byName.keys()].map((name) => name.length));
  return { byName, lengths, longestOctets: Math.max(...lengths) * ESCAPED_OCTETS };
};
