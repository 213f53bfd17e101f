/** The certificate that the front door shows: whether it can be read, fits its key and its name, and how long it still holds. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type Finding, ok, problem, warning } from "./finding.ts";

export type CertificateFacts =
  | { readonly kind: "unreadable"; readonly path: string; readonly why: string }
  | {
      readonly kind: "read";
      readonly path: string;
      /** Epoch ms. */
      readonly fromMs: number;
      readonly toMs: number;
      readonly fitsKey: boolean;
      /** Names that clients call the front door by, which it is not for. */
      readonly missingNames: readonly string[];
    };

const DAY_MS = 86_400_000;
/** Who renews automatically does so 30 days before the end. */
const SOON_DAYS = 21;

/** Never rejects. @param names that it has to be for; a wildcard may cover each */
export const readCertificate = async (
  files: { readonly certFile: string; readonly keyFile: string },
  names: readonly string[],
): Promise<CertificateFacts> => {
  let path = files.certFile;
  try {
    const certificate = new X509Certificate(await readFile(files.certFile));
    path = files.keyFile;
    const key = createPrivateKey(await readFile(files.keyFile));
    return {
      ...{ kind: "read", path: files.certFile, fitsKey: certificate.checkPrivateKey(key) },
      fromMs: Date.parse(certificate.validFrom),
      toMs: Date.parse(certificate.validTo),
      missingNames: names.filter((name) => certificate.checkHost(name) === undefined),
    };
  } catch (fault) {
    return { kind: "unreadable", path, why: fault instanceof Error ? fault.message : String(fault) };
  }
};

const RENEW =
  "Renew it: `certbot renew`, or lego with the challenges that `gtm acme` answers; the GTM reads it at its start.";

export const certificateFindings = (facts: CertificateFacts, nowMs: number): readonly Finding[] => {
  if (facts.kind === "unreadable") {
    return [
      problem(
        "certificate-unreadable",
        `${facts.path} cannot be used: ${facts.why}.`,
        "Mend http.tls: the front door does not start without it.",
      ),
    ];
  }
  const { path, fromMs, toMs, fitsKey, missingNames } = facts;
  const days = Math.floor((toMs - nowMs) / DAY_MS);
  const end = new Date(toMs).toISOString().slice(0, 10);
  const names =
    missingNames.length === 0
      ? []
      : [
          problem(
            "certificate-names",
            `${path} is not for ${missingNames.join(", ")}: clients of the front door refuse it.`,
            "Have it made for front.<zone> and *.front.<zone>.",
          ),
        ];
  const key = fitsKey
    ? []
    : [
        problem(
          "certificate-key",
          `${path} is not for the key in http.tls.key_file.`,
          "Name the two files that were made together.",
        ),
      ];
  if (nowMs > toMs)
    return [problem("certificate-expired", `${path} ended on ${end}: clients refuse it.`, RENEW), ...names, ...key];
  if (nowMs < fromMs) {
    const what = `${path} is not valid before ${new Date(fromMs).toISOString()}.`;
    return [problem("certificate-early", what, "Look at this host's clock: `timedatectl`."), ...names, ...key];
  }
  const lasts = `${path} is valid until ${end}, ${days} days`;
  return [
    days < SOON_DAYS ? warning("certificate-ends", `${lasts}.`, RENEW) : ok("certificate", `${lasts}.`),
    ...names,
    ...key,
  ];
};
