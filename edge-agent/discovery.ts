/** Which engines are there now: those that are named, those behind a DNS name, those in a watched file. */
import type { ReportFault } from "#shared/report.ts";
import type { GpuClaim } from "./gpu/model-gpus.ts";

/** How one engine is asked, wherever its name came from. */
export type Place = {
  /** `host:port`, unique among all. */
  readonly address: string;
  /** Origin and path prefix, without a trailing slash. */
  readonly url: string;
  readonly wish: string;
  readonly model: string | null;
  readonly aliases: Readonly<Record<string, string>>;
  /** The name behind an address, with its port; null: it is asked under its address. */
  readonly host: string | null;
  readonly caFile: string | null;
  readonly apiKeyFile: string | null;
  readonly bearerTokenFile: string | null;
  readonly gpus: GpuClaim;
};

export type Found = { readonly places: readonly Place[]; readonly faults: readonly ReportFault[] };

/** Where engines are told. Never throws, never waits longer than a moment. */
export type Source = () => Found;

/** Fields of the configuration of one engine or of several that are alike. */
export type Manner = Omit<Place, "address" | "url" | "host">;

/** Sources in the order of the configuration; an address that stands twice is the first one's. */
export const together =
  (sources: readonly Source[]): Source =>
  () => {
    const byAddress = new Map<string, Place>();
    const faults: ReportFault[] = [];
    for (const source of sources) {
      const found = source();
      faults.push(...found.faults);
      for (const place of found.places) {
        if (byAddress.has(place.address)) faults.push({ source: place.address, field: "engines", code: "named-twice" });
        else byAddress.set(place.address, place);
      }
    }
    return { places: [...byAddress.values()], faults };
  };
