/** A systemd unit file as sections, keys and values. */

/** By "Section.Key"; a key that is set several times has several values, in order. */
export type UnitFile = ReadonlyMap<string, readonly string[]>;

/** @throws {Error} where a line is neither a section, a key with a value, a comment nor empty */
export const readUnitFile = (text: string): UnitFile => {
  const values = new Map<string, string[]>();
  let section = "";
  for (const line of text.split("\n")) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const header = /^\[(\w+)\]$/.exec(line)?.[1];
    if (header !== undefined) {
      section = header;
      continue;
    }
    const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (key === undefined || value === undefined) throw new Error(`expected a key and a value, found ${line}`);
    const name = `${section}.${key}`;
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  return values;
};
