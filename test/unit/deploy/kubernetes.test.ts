/** What can be said of the manifests without a cluster: they fit one another, and the programs read what they bring. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { HEALTH_PATH } from "#edge-agent/gateway/health.ts";
import { agentConfigOf, deployedConfig, gatewayConfigOf } from "#test/support/deployed-config.ts";

const Probe = z.object({ httpGet: z.looseObject({ path: z.string(), port: z.string() }) }).loose();
const Container = z.looseObject({
  image: z.string(),
  args: z.array(z.string()),
  ports: z.array(z.object({ name: z.string(), containerPort: z.int() })),
  readinessProbe: Probe,
  livenessProbe: Probe,
  securityContext: z.object({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.object({ drop: z.tuple([z.literal("ALL")]) }),
  }),
  resources: z.object({ requests: z.record(z.string(), z.string()), limits: z.object({ memory: z.string() }) }),
  volumeMounts: z.array(
    z.object({
      name: z.string(),
      mountPath: z.string(),
      subPath: z.string().optional(),
      readOnly: z.literal(true),
    }),
  ),
});
const Workload = z.looseObject({
  kind: z.enum(["StatefulSet", "Deployment"]),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    replicas: z.int(),
    serviceName: z.string().optional(),
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    template: z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()) }),
      spec: z.looseObject({
        automountServiceAccountToken: z.literal(false),
        terminationGracePeriodSeconds: z.int().default(30),
        securityContext: z.looseObject({ runAsNonRoot: z.literal(true), runAsUser: z.int().min(1) }),
        containers: z.tuple([Container]),
        volumes: z.array(z.looseObject({ name: z.string() })),
      }),
    }),
  }),
});

const documents = parseAllDocuments(readFileSync("deploy/kubernetes/gateway.yaml", "utf8"), { merge: true });
const manifests: readonly unknown[] = documents.map((one) => one.toJS());
const of = (kind: string): readonly Record<string, unknown>[] =>
  manifests.filter((one): one is Record<string, unknown> => (one as { kind: string }).kind === kind);
const workloads = [...of("StatefulSet"), ...of("Deployment")].map((one) => Workload.parse(one));
const [config = {}] = of("ConfigMap").map(({ data }) => data as Record<string, string>);
const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const ENV = { HOSTNAME: "llm-gtm-gateway-0" };

describe("the manifests", () => {
  it("are YAML without faults, all in one namespace", () => {
    assert.deepEqual(
      documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]),
      [],
    );
    const spaces = manifests.map((one) => (one as { metadata: { namespace: string } }).metadata.namespace);
    assert.deepEqual(new Set(spaces), new Set(["llm-gtm"]));
  });
  for (const { kind, metadata, spec } of workloads) {
    const { template } = spec;
    const [container] = template.spec.containers;
    describe(`${kind} ${metadata.name}`, () => {
      it("selects its own pods, and starts a program of this version", () => {
        for (const [name, value] of Object.entries(spec.selector.matchLabels)) {
          assert.equal(template.metadata.labels[name], value);
        }
        assert.equal(container.image, `llm-gtm:${version}`);
        assert.ok(existsSync(container.args[0] ?? ""));
      });
      it("mounts what it has, each volume of its pod, and the configuration that it is started with", () => {
        const volumes = template.spec.volumes.map(({ name }) => name);
        assert.deepEqual(new Set(container.volumeMounts.map(({ name }) => name)), new Set(volumes));
        const path = container.args.at(-1) ?? "";
        const mount = container.volumeMounts.find(({ mountPath }) => mountPath === path);
        assert.ok(config[mount?.subPath ?? ""] !== undefined, `${path} is mounted from the ConfigMap`);
      });
      it("reads its configuration, whose files are mounted, and has the time to stop", () => {
        const path = container.args.at(-1) ?? "";
        const text = config[path.split("/").at(-1) ?? ""] ?? "";
        const { metricsPort, stopMs } = deployedConfig(container.args, text, ENV);
        const named = [...text.matchAll(/_file: ([\w./-]+)/g)].map(([, file = ""]) => file);
        assert.ok(named.length >= 3);
        const folders = container.volumeMounts.map(({ mountPath }) => mountPath);
        assert.deepEqual(
          named.filter((file) => !folders.some((folder) => file.startsWith(`${folder}/`))),
          [],
        );
        assert.ok(
          container.ports.some(({ name, containerPort }) => name === "metrics" && containerPort === metricsPort),
        );
        assert.ok(template.spec.terminationGracePeriodSeconds * 1_000 >= stopMs, `${stopMs} ms`);
      });
      it("is probed at ports that it has", () => {
        const names = container.ports.map(({ name }) => name);
        for (const { httpGet } of [container.readinessProbe, container.livenessProbe]) {
          assert.ok(names.includes(httpGet.port), httpGet.port);
        }
      });
    });
  }
});

describe("the gateways of the manifests", () => {
  const gateway = gatewayConfigOf(config["gateway.yaml"] ?? "", "gateway.yaml", ENV);
  const agent = agentConfigOf(config["edge-agent.yaml"] ?? "", "edge-agent.yaml", {});
  const [workload] = workloads;
  const [container] = workload?.spec.template.spec.containers ?? [];

  it("are ready where /healthz says so, and serve where the Service leads", () => {
    assert.equal(container?.readinessProbe.httpGet.path, HEALTH_PATH);
    const port = container?.ports.find(({ name }) => name === "https")?.containerPort;
    assert.deepEqual(
      gateway.listen.map(({ address, tls }) => [address.split(":").at(-1), tls]),
      [[`${port}`, true]],
    );
    const services = of("Service").map(({ spec }) => spec as { ports: { targetPort: string }[]; selector: object });
    for (const { ports, selector } of services) {
      assert.ok(ports.every(({ targetPort }) => container?.ports.some(({ name }) => name === targetPort)));
      assert.deepEqual(selector, workload?.spec.selector.matchLabels);
    }
  });
  it("are all asked by the agent, by the names that they have", () => {
    const { replicas = 0, serviceName = "" } = workload?.spec ?? {};
    const port = gateway.metrics.listen.split(":").at(-1);
    assert.deepEqual(
      agent.gateways.map(({ url }) => url),
      Array.from({ length: replicas }, (_, at) => `http://llm-gtm-gateway-${at}.${serviceName}:${port}`),
    );
    assert.ok(of("Service").some(({ metadata }) => (metadata as { name: string }).name === serviceName));
  });
  it("have the engines, the region and the store's user of their agent's region", () => {
    assert.equal(agent.region, gateway.region);
    assert.deepEqual(
      agent.engines.map(({ url }) => url),
      gateway.engines.map(({ url }) => url),
    );
    assert.match(gateway.store.url, /\/\/gateway-eu-central@/);
    assert.match(agent.store.url, /\/\/edge-agent-eu-central@/);
  });
});
