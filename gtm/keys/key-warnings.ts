/** What works with keys and should not stay so. */
import type { RegionId } from "#shared/ids.ts";
import { type KeyFiles, type Keys, labelKeysOf, readableByOthers } from "./key-files.ts";

/** Configured regions whose reports nobody signs. */
export const unsignedRegions = ({ reports }: Keys, regions: readonly RegionId[]): readonly RegionId[] =>
  regions.filter((region) => reports?.has(region) !== true);

/** Regions with report keys that the configuration does not have. */
export const unknownRegions = ({ reports }: Keys, regions: readonly RegionId[]): readonly RegionId[] =>
  [...(reports?.keys() ?? [])].filter((region) => !regions.includes(region));

/** One sentence each, for a person. */
export const keyWarnings = (files: KeyFiles, keys: Keys, regions: readonly RegionId[]): readonly string[] => {
  const unsigned = unsignedRegions(keys, regions);
  const ephemeral =
    labelKeysOf(keys) === null
      ? ["keys: without identity_file and signing_file labels end with the process, and no other GTM knows them"]
      : [];
  const strangers =
    keys.cookie === null ? ["keys: without cookie_file each GTM makes DNS cookies that no other accepts"] : [];
  return [
    ...ephemeral,
    ...strangers,
    ...(unsigned.length === 0
      ? []
      : [`keys: unsigned reports and measured turns are believed of ${unsigned.join(", ")}`]),
    ...unknownRegions(keys, regions).map((region) => `${files.reports}: no region is called ${region}`),
    ...readableByOthers(files).map((file) => `${file}: readable by every user of this machine`),
  ];
};
