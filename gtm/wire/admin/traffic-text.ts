/** What a drain or an override is about, in words: one wording for the page and the command line. */

type Traffic = { readonly region: string; readonly pool: string; readonly model: string; readonly tenant: string };

/** "eu-central", or "eu-* for model llama*" */
export const trafficText = ({ region, pool, model, tenant }: Traffic): string => {
  const of = [
    ["pool", pool],
    ["model", model],
    ["tenant", tenant],
  ].filter(([, glob]) => glob !== "*");
  return of.length === 0 ? region : `${region} for ${of.map((one) => one.join(" ")).join(", ")}`;
};
