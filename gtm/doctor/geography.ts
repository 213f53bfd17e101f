/** Where clients are said to be: which data that rests on, and how old they are. */
import { readFile, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { GtmConfig } from "#gtm/config.ts";
import { counted, type Finding, ok, problem, warning } from "./finding.ts";

export type GeographyFacts =
  | { readonly kind: "static"; readonly networks: number }
  | { readonly kind: "missing"; readonly why: string }
  | {
      readonly kind: "data";
      readonly folder: string;
      /** The data are those that the package brings. */
      readonly isBundled: boolean;
      /** Epoch ms of when somebody brought them there. */
      readonly atMs: number;
    };

/** data/city.checksum of geoip-lite 2.0.3 as its package has it: what `updatedb` brings has another. */
const BUNDLED = "738794f02b34c28847582790e570b533";
const DAY_MS = 86_400_000;
/** MaxMind publishes twice a week; networks change hands by a few percent in this time. */
const OLD_DAYS = 90;

/** Never rejects. @param env where GEODATADIR names another folder, as geoip-lite reads it */
export const readGeography = async (
  { provider, static: networks }: Pick<GtmConfig["geo"], "provider" | "static">,
  env: Readonly<Record<string, string | undefined>>,
): Promise<GeographyFacts> => {
  if (provider === "static") return { kind: "static", networks: networks.length };
  try {
    const folder =
      env["GEODATADIR"] ?? join(dirname(createRequire(import.meta.url).resolve("geoip-lite/package.json")), "data");
    const checksum = await readFile(join(folder, "city.checksum"), "utf8").catch(() => "");
    const { mtimeMs } = await stat(join(folder, "geoip-city.dat"));
    return { kind: "data", folder, isBundled: checksum.trim() === BUNDLED, atMs: mtimeMs };
  } catch (fault) {
    return { kind: "missing", why: fault instanceof Error ? fault.message : String(fault) };
  }
};

const UPDATE =
  "`cd node_modules/geoip-lite && npm run-script updatedb license_key=KEY` (a free key of MaxMind), then restart; or name your own networks in geo.static.";

export const geographyFindings = (facts: GeographyFacts, nowMs: number): readonly Finding[] => {
  switch (facts.kind) {
    case "static":
      return [ok("geo", `Clients have a place by geo.static alone: ${counted(facts.networks, "network")}.`)];
    case "missing":
      return [
        problem(
          "geo-missing",
          `There are no geography data: ${facts.why}.`,
          "`npm ci`, or set `geo.provider: static`.",
        ),
      ];
    case "data": {
      if (facts.isBundled) {
        const what = `The geography data in ${facts.folder} are those that geoip-lite brings: without a date, and by MaxMind's licence never new.`;
        return [warning("geo-bundled", what, UPDATE)];
      }
      const days = Math.floor((nowMs - facts.atMs) / DAY_MS);
      const what = `The geography data in ${facts.folder} were updated ${counted(days, "day")} ago.`;
      return [days > OLD_DAYS ? warning("geo-old", what, UPDATE) : ok("geo", what)];
    }
  }
};
