/** Whether labels and reports rest on keys that outlive a restart and that nobody else can read. Pure. */
import type { KeyFiles } from "#gtm/keys/key-files.ts";
import type { RegionId } from "#shared/ids.ts";
import { type Finding, listed, ok, problem, warning } from "./finding.ts";

export type KeyInputs = {
  readonly files: KeyFiles;
  /** What is wrong with them, a line a fault; null: they can be read. */
  readonly fault: string | null;
  readonly hasLabelKeys: boolean;
  /** Configured regions without a report key, and keys of regions that are not configured. */
  readonly unsigned: readonly RegionId[];
  readonly strange: readonly RegionId[];
  /** Files that every user of this host can read. */
  readonly readableByOthers: readonly string[];
};

const INIT = "`gtm keys init --dir DIR --config FILE` makes the files and prints the lines for `keys:`";

export const keyFindings = (inputs: KeyInputs): readonly Finding[] => {
  const { files, fault, unsigned } = inputs;
  if (fault !== null) {
    return [
      problem("keys-unusable", `The key files cannot be used: ${fault.replaceAll("\n", "; ")}.`, `Mend them; ${INIT}.`),
    ];
  }
  return [
    inputs.hasLabelKeys
      ? ok("keys-labels", "Labels and pin tokens are made with keys from files.")
      : warning(
          "keys-ephemeral",
          "No keys for labels are configured: each GTM makes its own at start, so that no label outlives it or is known to another.",
          `${INIT}; give every GTM the same.`,
        ),
    unsigned.length === 0
      ? ok("keys-reports", "Every region has a report key: unsigned reports and measured turns are refused.")
      : warning(
          "keys-unsigned-regions",
          `${listed(unsigned)} ${unsigned.length === 1 ? "has" : "have"} no report key: unsigned reports and measured turns are believed.`,
          `${INIT}, one for each region.`,
        ),
    ...inputs.strange.map((region) =>
      warning(
        "keys-strange-region",
        `${files.reports} has a key for ${region}, which is not configured.`,
        "Mend the region's name in the configuration, or take the line out of the file.",
      ),
    ),
    ...inputs.readableByOthers.map((file) =>
      problem("keys-readable", `Every user of this host can read ${file}.`, `chmod 600 ${file}`),
    ),
  ];
};
