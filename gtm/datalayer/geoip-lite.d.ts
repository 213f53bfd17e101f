/** The little of geoip-lite 2 that we use; the package brings no types. */
declare module "geoip-lite" {
  type Found = {
    /** First and last address as numbers; an empty text for IPv6, where the data has no ranges. */
    readonly range: readonly [number, number] | "";
    /** ISO 3166-1 alpha-2, or an empty text. */
    readonly country: string;
    /** Latitude and longitude; nulls (IPv4) or zeros (IPv6) where the data has none. */
    readonly ll: readonly [number | null, number | null];
  };
  const geoip: { readonly lookup: (address: string) => Found | null };
  export = geoip;
}
