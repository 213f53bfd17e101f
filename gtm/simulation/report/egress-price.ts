/** What a byte costs that leaves one AWS region for another. */

/**
 * US dollars per GB by the region that is left: list prices of May 2022 as skyplane has them (profiles/cost.csv, Apache-2.0). They do not
 * depend on where the bytes go, but for one pair.
 */
const USD_PER_GB: Readonly<Record<string, number>> = {
  "af-south-1": 0.147,
  "ap-east-1": 0.09,
  "ap-northeast-1": 0.09,
  "ap-northeast-2": 0.08,
  "ap-northeast-3": 0.09,
  "ap-south-1": 0.086,
  "ap-southeast-1": 0.09,
  "ap-southeast-2": 0.098,
  "ca-central-1": 0.02,
  "eu-central-1": 0.02,
  "eu-north-1": 0.02,
  "eu-south-1": 0.02,
  "eu-west-1": 0.02,
  "eu-west-2": 0.02,
  "eu-west-3": 0.02,
  "me-south-1": 0.1105,
  "sa-east-1": 0.138,
  "us-east-1": 0.02,
  "us-east-2": 0.02,
  "us-west-1": 0.02,
  "us-west-2": 0.02,
};

const NEIGHBOURS: readonly string[] = ["us-east-1", "us-east-2"];
const USD_PER_GB_OF_NEIGHBOURS = 0.01;

/** @returns US cents a byte, 0 within a region; null: no price of that region is known */
export const egressCentsPerByte = (from: string, to: string): number | null => {
  if (from === to) return 0;
  const usdPerGb =
    NEIGHBOURS.includes(from) && NEIGHBOURS.includes(to) ? USD_PER_GB_OF_NEIGHBOURS : (USD_PER_GB[from] ?? null);
  return usdPerGb === null || USD_PER_GB[to] === undefined ? null : (usdPerGb * 100) / 1e9;
};
