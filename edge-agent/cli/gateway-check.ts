/** `edge-agent gateway check`: the configuration, keys, certificate, store and engines tried once, with what to do about what is wrong. */
import type { Clock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import { changedChannel, heldKey, ordersKey, sizesKey, ticketKey } from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { watchTlsFiles } from "#shared/tls-files.ts";
import { addressOf } from "../engine-config.ts";
import { regionAgent } from "../gateway/agents.ts";
import type { GatewayConfig } from "../gateway/config.ts";
import { watchGatewayKeys } from "../gateway/gateway-keys.ts";
import { regionReplicas } from "../gateway/region-replicas.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";
import { type Finding, probedStoreFindings } from "./store-findings.ts";

/** @throws {CliFailure} with exit code 7 where there are problems */
export const checkGateway = async (config: GatewayConfig, path: string, clock: Clock, io: CliIo): Promise<void> => {
  const findings = [
    ...keyFindings(config),
    ...tlsFindings(config, clock),
    ...(await storeFindings(config, clock)),
    ...(await engineFindings(config, clock)),
  ];
  for (const { isProblem, text } of findings) io.print(`${isProblem ? "problem" : "       "}  ${text}\n`);
  const problems = findings.filter(({ isProblem }) => isProblem).length;
  if (problems === 0) io.tell(`${path}: usable, everything answers\n`);
  else throw new CliFailure(EXIT.problemsFound, `${path}: ${problems === 1 ? "1 problem" : `${problems} problems`}`);
};

const told = (isProblem: boolean, text: string): Finding => ({ isProblem, text });

/** @param read throws what is wrong with a file */
const tried = (subject: string, read: () => string): Finding => {
  try {
    return told(false, `${subject}: ${read()}`);
  } catch (fault) {
    if (!(fault instanceof OperationalError)) throw fault;
    return told(true, `${subject}: ${fault.message}`);
  }
};

const keyFindings = (config: GatewayConfig): readonly Finding[] => {
  const { identity_file, ticket_file, report_file } = config.keys;
  const keys = tried("keys", () => {
    watchGatewayKeys(config, { log: silentLogger, metrics: createMetrics(), remember: () => true }).stop();
    return "can be read";
  });
  return [
    keys,
    ...(identity_file === null
      ? [told(true, "keys: without identity_file and signing_file labels and pins of the GTMs are strangers here")]
      : []),
    ...(ticket_file === null
      ? [told(true, `keys: without ticket_file redirects lose the client's key; gtm keys region ${config.region}`)]
      : []),
    ...(report_file === null
      ? [told(true, `keys: without report_file GTMs with a report key of ${config.region} learn nothing measured here`)]
      : []),
    ...(config.regions_ca_file === null
      ? []
      : [
          tried("regions_ca_file", () => {
            void regionAgent(config).close();
            return "can be read";
          }),
        ]),
  ];
};

const tlsFindings = ({ tls }: GatewayConfig, clock: Clock): readonly Finding[] =>
  tls === null
    ? [told(false, "tls: none; credentials come in the clear unless something before this gateway ends TLS")]
    : [
        tried("tls", () => {
          const rules = { clock, log: silentLogger, metrics: createMetrics(), lookEveryMs: 60_000 };
          const files = watchTlsFiles({ certFile: tls.cert_file, keyFile: tls.key_file }, rules);
          files.stop();
          return `certificate and key belong together, until ${new Date(files.current().expiresAtMs).toISOString()}`;
        }),
      ];

const storeFindings = (config: GatewayConfig, clock: Clock): Promise<readonly Finding[]> =>
  probedStoreFindings(config, clock, {
    probes: [
      ["GET", ordersKey()],
      ["ZADD", heldKey(config.region), "no-number", "0000000000000"],
      ["ZADD", sizesKey(config.region), "no-number", "0000000000000"],
      ["PUBLISH", changedChannel(), "{}"],
      ...(config.tickets.single_use === "region" ? [["SET", ticketKey(config.region, "check"), "", "NX", "XX"]] : []),
    ].map((words) => ({ name: words.slice(0, 2).join(" "), words })),
    rules: `deploy/redis/acl/gateway.acl for ${config.region}`,
    who: "gateway",
  });

const engineFindings = async (config: GatewayConfig, clock: Clock): Promise<readonly Finding[]> => {
  const metrics = createMetrics();
  const store = createMemoryStore(clock);
  const keys = watchGatewayKeys(
    { region: config.region, keys: { identity_file: null, signing_file: null, ticket_file: null, report_file: null } },
    { log: silentLogger, metrics, remember: () => true },
  );
  keys.stop();
  const replicas = regionReplicas(config, { store, keys, clock, log: silentLogger, metrics });
  await replicas.start();
  const { replicas: found } = replicas.page();
  const isAnswering = replicas.answering();
  await replicas.stop();
  await store.close();
  const rows = config.engines.map(({ url }) => {
    const address = addressOf(url) ?? url;
    const own = found.filter(({ id }) => id.startsWith(`${address}/`));
    const models = [...new Set(own.map(({ model }) => model))].join(", ");
    return own.length === 0
      ? told(true, `${address}: no model is known there. Start the engine, mend the address, or set api_key_file.`)
      : told(false, `${address}: ${models}, ${own.length === 1 ? "1 replica" : `${own.length} replicas`}`);
  });
  return isAnswering === 0 ? [...rows, told(true, "no engine answers: /healthz would say 503")] : rows;
};
