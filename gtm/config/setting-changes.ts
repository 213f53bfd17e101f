/** What differs between two configurations, key by key, in the words of a file. */
import type { Effect } from "./setting-row.ts";
import { settingAt } from "./settings-table.ts";
import type { Shown, ShownSettings } from "./shown-settings.ts";

export type SettingChange = {
  /** For people: `regions.eu-central.probe.interval`. */
  readonly at: string;
  /** The key at the top of the file. */
  readonly section: string;
  readonly kind: "changed" | "added" | "removed";
  /** null: it was not there, or was null. */
  readonly from: Shown;
  readonly to: Shown;
  readonly effect: Effect;
};

/** Lists of these are told apart by their names and not by their order. */
const NAMES: Readonly<Record<string, string>> = {
  regions: "id",
  models: "id",
  pools: "name",
  "dns.ns": "name",
  "geo.static": "cidr",
  "admin.auth.oidc.roles": "value",
};

export const changesBetween = (before: ShownSettings, after: ShownSettings): readonly SettingChange[] =>
  compared(before, after, { at: "", row: "" });

type Place = { readonly at: string; readonly row: string };

const compared = (from: Shown, to: Shown, place: Place): readonly SettingChange[] => {
  if (JSON.stringify(from) === JSON.stringify(to)) return [];
  const name = NAMES[place.row];
  if (Array.isArray(from) && Array.isArray(to) && name !== undefined) return comparedByName(from, to, name, place);
  if (!isMap(from) || !isMap(to)) return [changeOf(from, to, place)];
  const keys = new Set([...Object.keys(from), ...Object.keys(to)]);
  return [...keys].flatMap((key) => compared(from[key] ?? null, to[key] ?? null, within(place, key, key)));
};

const comparedByName = (
  from: readonly Shown[],
  to: readonly Shown[],
  name: string,
  place: Place,
): readonly SettingChange[] => {
  const [before, after] = [byName(from, name), byName(to, name)];
  const inner = (key: string): Place => ({ at: `${place.at}.${key}`, row: `${place.row}[]` });
  const [had, has] = [[...before.keys()], [...after.keys()]];
  // Where nothing came or went, another order may mean another preference.
  const isOnlyReordered = had.length === has.length && had.every((key) => after.has(key)) && had.join() !== has.join();
  return [
    ...(isOnlyReordered ? [changeOf(had, has, place)] : []),
    ...[...before].flatMap(([key, one]) => {
      const other = after.get(key);
      return other === undefined ? [changeOf(one, null, inner(key), "removed")] : compared(one, other, inner(key));
    }),
    ...[...after].flatMap(([key, one]) => (before.has(key) ? [] : [changeOf(null, one, inner(key), "added")])),
  ];
};

const byName = (items: readonly Shown[], name: string): ReadonlyMap<string, Shown> =>
  new Map(items.map((one, at) => [isMap(one) ? String(one[name]) : String(at), one]));

const within = ({ at, row }: Place, key: string, rowKey: string): Place => ({
  at: at === "" ? key : `${at}.${key}`,
  row: row === "" ? rowKey : `${row}.${rowKey}`,
});

const changeOf = (
  from: Shown,
  to: Shown,
  { at, row }: Place,
  kind: SettingChange["kind"] = "changed",
): SettingChange => ({
  ...{ at, kind, from, to },
  section: row.split(/[.[]/, 1)[0] ?? "",
  effect: effectOf(row),
});

/** Of a key that holds others: they have it in common, or it has none of its own and is live. */
const effectOf = (row: string): Effect =>
  settingAt(row)?.effect ??
  settingAt(`${row}[]`)?.effect ??
  (RESTARTED.some((one) => isWithin(row, one)) ? "restart" : "live");

/** Keys that hold only such as wait for a restart. */
const RESTARTED = ["store", "admin", "metrics", "http.tls"] as const;

const isWithin = (row: string, section: string): boolean => row === section || row.startsWith(`${section}.`);

const isMap = (value: Shown): value is { readonly [key: string]: Shown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);
