/** A private certificate authority, and what it signed for one server and one client of loopback, made by openssl. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

export type KeyPair = { readonly certFile: string; readonly keyFile: string };
export type Certificates = {
  readonly caFile: string;
  /** For 127.0.0.1, ::1 and localhost. */
  readonly server: KeyPair;
  readonly client: KeyPair;
};

const run = promisify(execFile);

/** @param folder exists; its owner removes it. Another folder gets another authority, which trusts none of the first's. */
export const makeCertificates = async (folder: string): Promise<Certificates> => {
  const ca = filesOf(folder, "ca");
  await run("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
    ...["-subj", "/CN=test authority", "-keyout", ca.keyFile, "-out", ca.certFile],
  ]);
  // One after the other: each takes the next serial number.
  const server = await signed(
    folder,
    "server",
    "subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth",
  );
  const client = await signed(folder, "client", "extendedKeyUsage=clientAuth");
  return { caFile: ca.certFile, server, client };
};

const filesOf = (folder: string, name: string): KeyPair => ({
  certFile: join(folder, `${name}.crt`),
  keyFile: join(folder, `${name}.key`),
});

const signed = async (folder: string, name: string, extensions: string): Promise<KeyPair> => {
  const ca = filesOf(folder, "ca");
  const own = filesOf(folder, name);
  const request = join(folder, `${name}.csr`);
  const extensionFile = join(folder, `${name}.ext`);
  await writeFile(extensionFile, extensions);
  await run("openssl", [
    ...["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
    ...["-subj", `/CN=test ${name}`, "-keyout", own.keyFile, "-out", request],
  ]);
  await run("openssl", [
    ...["x509", "-req", "-in", request, "-days", "2", "-extfile", extensionFile, "-out", own.certFile],
    ...["-CA", ca.certFile, "-CAkey", ca.keyFile, "-CAcreateserial"],
  ]);
  return own;
};
