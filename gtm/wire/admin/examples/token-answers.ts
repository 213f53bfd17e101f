/** Examples of answers: tokens, challenges of certificate authorities, and who changed what. */
import type { Answers } from "./answers.ts";
import { CHALLENGE, CHALLENGE_VALUE, TOKEN } from "./names.ts";

const ON_CALL = {
  id: TOKEN,
  source: "api",
  name: "night-shift",
  role: "operator",
  state: "active",
  regions: ["eu-*"],
  pools: null,
  tenants: null,
  names: null,
  comment: "on call in Europe",
  createdBy: "on-call",
  createdWith: null,
  createdAt: "2026-03-02T09:30:14.000Z",
  createdMsAgo: 86400000,
  expiresAt: "2026-04-01T09:30:14.000Z",
  expiresInMs: 2505600000,
  lastUsedAt: "2026-03-03T09:12:00.000Z",
  lastUsedMsAgo: 1094000,
  revokedAt: null,
  revokedBy: null,
  etag: '"tk-9f86d081884c7d65-1772443814000"',
};

export const TOKEN_ANSWERS: Answers = {
  "get /tokens": { answer: { items: [ON_CALL], next_cursor: null } },
  "get /tokens/{id}": { answer: ON_CALL },
  "post /tokens": {
    answer: {
      ...ON_CALL,
      lastUsedAt: null,
      lastUsedMsAgo: null,
      createdMsAgo: 0,
      expiresInMs: 2592000000,
      token: "gtm_EXAMPLEexampleEXAMPLEexampleEXAMPLEexample0",
    },
  },
  "patch /tokens/{id}": { answer: ON_CALL },
  "delete /tokens/{id}": { answer: { id: TOKEN, revoked: true, alsoRevoked: [] } },
  "get /acme-challenges": {
    answer: {
      items: [{ name: CHALLENGE, values: [{ value: CHALLENGE_VALUE, actor: "on-call", expiresInMs: 599992 }] }],
      next_cursor: null,
    },
  },
  "post /acme-challenges": {
    answer: { name: CHALLENGE, value: CHALLENGE_VALUE, expiresInMs: 600000, isDryRun: false },
  },
  "delete /acme-challenges/{name}": { answer: { name: CHALLENGE, values: 1, isDryRun: false } },
  "post /acme/present": { answer: { fqdn: `${CHALLENGE}.`, value: CHALLENGE_VALUE } },
  "post /acme/cleanup": { answer: { fqdn: `${CHALLENGE}.`, value: CHALLENGE_VALUE } },
  "get /audit": {
    answer: {
      items: [
        {
          id: "1772443813000-0",
          at: "2026-03-02T09:30:14.000Z",
          instance: "gtm-1",
          actor: "on-call",
          role: "operator",
          tokenId: TOKEN,
          method: "POST",
          path: "/api/v1/regions/eu-central/drain",
          overrideRule: null,
          body: { mode: "drain-new", comment: "driver update", for: "2h" },
          status: 200,
        },
      ],
      next_cursor: null,
    },
  },
};
