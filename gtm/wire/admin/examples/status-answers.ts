/** Examples of answers: who asks, this GTM, the others, its configuration. */
import type { Answers } from "./answers.ts";

export const STATUS_ANSWERS: Answers = {
  "get /whoami": {
    answer: {
      name: "on-call",
      role: "operator",
      by: "token",
      tokenId: "tk-9f86d081884c7d65",
      regions: ["eu-*"],
      pools: null,
      tenants: null,
      expiresAt: "2026-04-01T09:30:14.000Z",
      expiresInMs: 2505600000,
    },
  },
  "get /status": {
    answer: {
      instance: "gtm-1",
      version: "0.1.0",
      state: "ready",
      degradedSince: null,
      reasons: [],
      degradations: [],
      uptimeMs: 864000000,
      isStoreUp: true,
      world: { version: 39, ageMs: 73, areAgesFrozen: false, savedAgeMs: null },
      pools: [{ name: "chat", models: ["llama-3.3-70b"], regions: ["eu-central", "us-east"] }],
      regions: [
        {
          id: "eu-central",
          admin: "active",
          health: "healthy",
          takesNew: true,
          keepsHeld: true,
          because: "In service.",
          reportAgeMs: 22,
        },
        {
          id: "us-east",
          admin: "active",
          health: "healthy",
          takesNew: true,
          keepsHeld: true,
          because: "In service.",
          reportAgeMs: 140,
        },
      ],
      orders: { rev: 12, regions: 0, overrides: 1 },
    },
  },
  "get /version": { answer: { version: "0.1.0", node: "v24.22.3", api: "v1" } },
  "get /instances": {
    answer: {
      instance: "gtm-1",
      version: "0.1.0",
      boot: "0cab03f0-6545-4519-86b9-866c7cf64d29",
      config: {
        regions: "34c1a496db284f48",
        models: "0945ead42590ffb0",
        pools: "d6c6a2842564574c",
        policy: "55d5c7aca9700c3b",
        safety: "a58f471c3e7ff2be",
        zone: "4fedaecc87ae47af",
        geo: "a40aba9c0d4d7f15",
        "identity key": "c9odd0q0dedrm",
      },
      others: [],
    },
  },
  "get /recent": {
    answer: {
      bucketMs: 10000,
      buckets: [{ at: "2026-03-02T09:30:10.000Z", verdicts: { placed: 12, pinned: 74 }, turns: [] }],
      areas: [{ area: "eu-central", region: "eu-central", count: 86 }],
      changes: [],
      since: [
        { region: "eu-central", healthSince: "2026-03-02T09:30:10.000Z", adminSince: "2026-03-02T09:30:10.000Z" },
        { region: "us-east", healthSince: "2026-03-02T09:30:10.000Z", adminSince: "2026-03-02T09:30:10.000Z" },
      ],
    },
  },
  "get /config": {
    answer: {
      instance: "gtm-1",
      version: 1,
      hash: "0703845e6b65fd23",
      source: "gtm.yaml",
      isWatched: true,
      loadedAt: "2026-03-02T09:30:10.000Z",
      loadedAgeMs: 86400000,
      sections: [
        { name: "instance", hash: "4d967a30111bf29f", settings: "gtm-1" },
        {
          name: "pools",
          hash: "4b400877b7f65631",
          settings: [
            {
              name: "chat",
              models: ["llama-3.3-70b"],
              regions: ["eu-central", "us-east"],
              allow: null,
              last_resort: { kind: "servfail" },
              answer: "regions",
              paths: ["/v1"],
              mode: "redirect",
              shared_responses: false,
              steering: "enforce",
            },
          ],
        },
        {
          name: "safety",
          hash: "40343f71266ff779",
          settings: {
            min_active_regions: 0,
            min_regions_per_model: 1,
            max_used_after_drain_fraction: 0.95,
            cooldown: "1m",
          },
        },
      ],
      references: [],
      pending: [],
      refused: null,
    },
  },
  "get /config/schema": {
    answer: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { version: { type: "number", const: 1 } },
      required: ["version"],
    },
  },
  "post /config/check": {
    answer: {
      outcome: "faulty",
      isDryRun: true,
      faults: [
        { message: "missing, expected object", line: 1, column: 1, at: "dns" },
        { message: "missing, expected object", line: 1, column: 1, at: "http" },
      ],
      plan: null,
    },
  },
  "post /config/reload": { answer: { outcome: "unchanged", isDryRun: false, faults: [], plan: null } },
};
