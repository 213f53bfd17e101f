/** What can be said of compose.yaml without Docker: what it starts exists, reads what is mounted, and has the time to stop. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { z } from "zod";
import { deployedConfig } from "#test/support/deployed-config.ts";

const Service = z.looseObject({
  image: z.string(),
  command: z.array(z.string()),
  hostname: z.string().optional(),
  read_only: z.literal(true),
  cap_drop: z.tuple([z.literal("ALL")]),
  security_opt: z.tuple([z.literal("no-new-privileges:true")]),
  environment: z.record(z.string(), z.string()).default({}),
  volumes: z.array(z.string()).default([]),
  stop_grace_period: z
    .string()
    .regex(/^\d+s$/)
    .optional(),
});
const { services } = z
  .looseObject({ services: z.record(z.string(), Service) })
  .parse(parse(readFileSync("deploy/compose.yaml", "utf8"), { merge: true }));
const manifest = JSON.parse(readFileSync("package.json", "utf8"));

describe("the services of compose.yaml", () => {
  it("are a store and each program", () => {
    assert.deepEqual(Object.keys(services), ["redis", "gtm", "edge-agent", "gateway"]);
  });
  for (const [name, service] of Object.entries(services)) {
    if (name === "redis") continue;
    describe(name, () => {
      const { command, volumes, environment } = service;
      const mounted = volumes.map((volume) => volume.split(":"));
      const [from = ""] = mounted.find(([, to]) => to === command.at(-1)) ?? [];

      it("is the image of this version, and starts a program that is there", () => {
        assert.equal(service.image, `llm-gtm:${manifest.version}`);
        assert.ok(existsSync(command[0] ?? ""));
      });
      it("has its configuration mounted, meets the others in Redis, is asked where it listens, and may stop in peace", () => {
        const text = readFileSync(join("deploy", from), "utf8");
        const { metricsPort, stopMs } = deployedConfig(command, text, environment);
        assert.match(text, /url: "\$\{GTM_STORE:-memory:\}"/);
        assert.equal(environment["GTM_STORE"], "redis://redis:6379");
        assert.equal(environment["HEALTH_URL"], `http://127.0.0.1:${metricsPort}/readyz`);
        assert.ok(Number.parseInt(service.stop_grace_period ?? "10", 10) * 1_000 >= stopMs, `${stopMs} ms`);
      });
    });
  }
});
