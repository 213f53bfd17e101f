import assert from "node:assert/strict";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { systemClock } from "#shared/clock.ts";
import { createMetrics } from "#shared/metrics.ts";
import { watchTlsFiles } from "#shared/tls-files.ts";
import { type Certificates, makeCertificates } from "#test/support/certificates.ts";
import { recordingLog } from "#test/support/recording-log.ts";

describe("a certificate and its key in files", () => {
  let folder = "";
  let certificates: Certificates;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "tls-files-"));
    certificates = await makeCertificates(folder);
  });
  after(() => rm(folder, { recursive: true }));

  const certFile = (): string => join(folder, "own.crt");
  const keyFile = (): string => join(folder, "own.key");
  const copy = async (from: "server" | "client"): Promise<void> => {
    await copyFile(certificates[from].certFile, certFile());
    await copyFile(certificates[from].keyFile, keyFile());
  };
  const watched = () => {
    const log = recordingLog();
    const metrics = createMetrics();
    const rules = { clock: systemClock, log, metrics, lookEveryMs: 3_600_000 };
    return { log, metrics, files: watchTlsFiles({ certFile: certFile(), keyFile: keyFile() }, rules) };
  };

  it("are taken anew when they change, and tell when they end", async () => {
    await copy("server");
    const { files, metrics } = watched();
    await files.look();
    const first = files.current();
    assert.equal(await files.look(), false);
    assert.equal(files.current(), first);
    await copy("client");
    assert.equal(await files.look(), true);
    assert.notEqual(files.current().certificate, first.certificate);
    const text = await metrics.text();
    assert.match(text, /gtm_tls_reloads_total\{outcome="taken"\} 1/);
    const expiresAt = Number(/gtm_tls_certificate_expires_timestamp_seconds (\d+)/.exec(text)?.[1]);
    assert.ok(expiresAt > Date.now() / 1_000 && expiresAt < Date.now() / 1_000 + 3 * 86_400);
    files.stop();
  });

  const breakages: readonly { what: string; break: () => Promise<void> }[] = [
    { what: "the key is another's", break: () => copyFile(certificates.client.keyFile, keyFile()) },
    { what: "the certificate is no certificate", break: () => writeFile(certFile(), "hello") },
    { what: "the key is cut", break: () => writeFile(keyFile(), "-----BEGIN PRIVATE KEY-----\nMIGH") },
    { what: "a file is empty", break: () => writeFile(certFile(), "") },
    { what: "a file is gone", break: () => rm(keyFile()) },
  ];
  for (const { what, break: breakIt } of breakages) {
    it(`are kept, with one warning and a count, when ${what}`, async () => {
      await copy("server");
      const { files, log, metrics } = watched();
      await files.look();
      const first = files.current();
      await breakIt();
      assert.equal(await files.look(), false);
      assert.equal(await files.look(), false);
      assert.equal(files.current(), first);
      assert.equal(log.lines.filter(({ event }) => event === "tls.refused").length, 1);
      assert.match(await metrics.text(), /gtm_tls_reloads_total\{outcome="refused"\} 1/);
      await copy("client");
      assert.equal(await files.look(), true);
      files.stop();
    });
  }

  it("must be good at start", async () => {
    await copy("server");
    await copyFile(certificates.client.keyFile, keyFile());
    assert.throws(() => watched(), /own\.key: expected the private key of the first certificate in .*own\.crt/);
  });

  it("say so when they end within a week", async () => {
    await copy("server");
    const { files, log } = watched();
    assert.ok(log.lines.some(({ event }) => event === "tls.ends-soon"));
    files.stop();
  });
});
