/** A certificate authority of loopback (Let's Encrypt's Pebble) that asks one DNS server, and lego, which asks it for certificates. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { makeCertificates } from "./certificates.ts";
import { freePort } from "./free-port.ts";
import { here, type Place } from "./place.ts";

export type Pebble = AsyncDisposable & {
  readonly directoryUrl: string;
  /** Who signed its own certificate. */
  readonly caFile: string;
  /** Removed with it. */
  readonly folder: string;
};

/**
 * @param dns whom it asks for challenges, such as 127.0.0.1:53
 * @param within where it runs
 */
export const startPebble = async (dns: string, within: Place = here): Promise<Pebble> => {
  const folder = mkdtempSync(join(tmpdir(), "gtm-pebble-"));
  const { caFile, server } = await makeCertificates(folder);
  const port = await freePort();
  const config = join(folder, "pebble.json");
  writeFileSync(
    config,
    JSON.stringify({
      pebble: {
        listenAddress: `127.0.0.1:${port}`,
        certificate: server.certFile,
        privateKey: server.keyFile,
        // Of challenges that are not asked for here.
        httpPort: 1,
        tlsPort: 1,
        externalAccountBindingRequired: false,
      },
    }),
  );
  const child = within.spawn(["pebble", "-config", config, "-dnsserver", dns], {
    // It waits and refuses at random unless told not to.
    env: { ...process.env, PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: "0", PEBBLE_AUTHZREUSE: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const end = (): void => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", end);
  const ended = once(child, "exit");
  if (child.stdout === null || child.stderr === null) throw new Error("a process without pipes");
  let said = "";
  const listening = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      said += `${line}\n`;
      if (line.includes("ACME directory available")) listening.resolve();
    });
  }
  const stop = async (): Promise<void> => {
    process.off("exit", end);
    end();
    await ended;
  };
  if (!(await Promise.race([listening.promise.then(() => true), ended.then(() => false)]))) {
    await stop();
    throw new Error(`pebble ended: ${said}`);
  }
  return { directoryUrl: `https://127.0.0.1:${port}/dir`, caFile, folder, [Symbol.asyncDispose]: stop };
};

export type LegoWish = {
  readonly authority: Pebble;
  readonly domains: readonly string[];
  /** Whom it asks whether a challenge can be seen, before it tells the authority. */
  readonly resolver: string;
  /** Then it asks every name server of the zone, on port 53, too, before it tells the authority. */
  readonly asksNameServers?: boolean;
  /** Where it runs; absent: here. */
  readonly within?: Place;
  /** Its settings, HTTPREQ_… */
  readonly env: Readonly<Record<string, string>>;
};

/** @returns the certificate's file. @throws {Error} with all that lego said */
export const runLego = async (wish: LegoWish): Promise<string> => {
  const { authority, domains, resolver, env, asksNameServers = false, within = here } = wish;
  const folder = join(authority.folder, "lego");
  const command = [
    "lego",
    ...["--server", authority.directoryUrl, "--accept-tos", "--email", "hostmaster@example.org", "--path", folder],
    ...["--dns", "httpreq", "--dns.resolvers", resolver, ...(asksNameServers ? [] : ["--dns.disable-cp"])],
    ...domains.flatMap((domain) => ["--domains", domain]),
    "run",
  ];
  const { exitCode, stdout, stderr } = await within.run(command, {
    env: { ...process.env, LEGO_CA_CERTIFICATES: authority.caFile, ...env },
  });
  if (exitCode !== 0) throw new Error(`lego ended with ${exitCode}: ${stdout}${stderr}`);
  return join(folder, "certificates", `${domains[0]?.replace("*", "_")}.crt`);
};
