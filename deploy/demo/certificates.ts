/** Certificates made when the demo starts: an authority that nobody else trusts, and a server's that it signed. */
import { webcrypto } from "node:crypto";
// First: the library's decorators want it.
import "reflect-metadata";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";

export type Certificates = {
  /** PEM, as are the others. */
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
};

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DAY_MS = 86_400_000;
/** Clients' clocks may be behind. */
const NOT_BEFORE_MS = 3_600_000;

/**
 * @param names of the server, with wildcards as certificates have them: one label
 * @param addresses by which clients may call it too
 * @param nowEpochMs they are good for a day from then
 */
export const makeCertificates = async (
  names: readonly [string, ...string[]],
  addresses: readonly string[],
  nowEpochMs: number,
): Promise<Certificates> => {
  const span = { notBefore: new Date(nowEpochMs - NOT_BEFORE_MS), notAfter: new Date(nowEpochMs + DAY_MS) };
  const signed = { ...span, signingAlgorithm: ALGORITHM };
  const [ours, servers] = await Promise.all([newKeys(), newKeys()]);
  const authority = await X509CertificateGenerator.createSelfSigned({
    ...signed,
    name: "CN=llm-gtm demo authority",
    keys: ours,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
      await SubjectKeyIdentifierExtension.create(ours.publicKey),
    ],
  });
  const certificate = await X509CertificateGenerator.create({
    ...signed,
    subject: `CN=${names[0]}`,
    issuer: authority.subject,
    publicKey: servers.publicKey,
    signingKey: ours.privateKey,
    extensions: [
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([
        ...names.map((value) => ({ type: "dns" as const, value })),
        ...addresses.map((value) => ({ type: "ip" as const, value })),
      ]),
      // Clients that verify strictly, as Python does since 3.13, want the authority's named.
      await AuthorityKeyIdentifierExtension.create(ours.publicKey),
    ],
  });
  return {
    authority: pemOf("CERTIFICATE", authority.rawData),
    certificate: pemOf("CERTIFICATE", certificate.rawData),
    key: pemOf("PRIVATE KEY", await webcrypto.subtle.exportKey("pkcs8", servers.privateKey)),
  };
};

const newKeys = () => webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);

const pemOf = (tag: string, octets: ArrayBuffer): string => `${PemConverter.encode(octets, tag)}\n`;
