/** Examples of answers: the zone, its names, and what its parent has to hold. */
import type { Answers } from "./answers.ts";

const DELEGATION = {
  zone: "llm.example.com",
  forms: [
    {
      name: "bind",
      title: "Zone file (BIND, NSD, Knot)",
      how: "Add these lines to the file of example.com, raise its serial, and reload it.",
      text: "llm.example.com. 3600 IN NS ns1.llm.example.com.\nllm.example.com. 3600 IN NS ns2.llm.example.com.\nns1.llm.example.com. 3600 IN A 192.0.2.53\nns2.llm.example.com. 3600 IN A 198.51.100.53\n",
    },
  ],
  isChecking: false,
  check: null,
};

export const ZONE_ANSWERS: Answers = {
  "get /zones": {
    answer: {
      items: [
        {
          name: "llm.example.com",
          serial: 1,
          rname: "hostmaster.llm.example.com",
          nameServers: [
            { name: "ns1.llm.example.com", ipv4: ["192.0.2.53"], ipv6: [] },
            { name: "ns2.llm.example.com", ipv4: ["198.51.100.53"], ipv6: [] },
          ],
          records: { zone: 4, label: 1, pool: 1, front: 2, model: 1, region: 2 },
          ttls: { steady: 20, unsettled: 5 },
          lastCheck: null,
        },
      ],
      next_cursor: null,
    },
  },
  "get /zones/{zone}/records": {
    answer: {
      items: [
        {
          name: "chat.llm.example.com",
          type: "A",
          ttlSeconds: null,
          values: ["192.0.2.10", "198.51.100.10"],
          how: "By the client's network and what regions report, one of eu-central, us-east.",
          kind: "pool",
          present: [
            { from: "eu-central", region: "eu-central", values: ["192.0.2.10"] },
            { from: "us-east", region: "us-east", values: ["198.51.100.10"] },
          ],
        },
      ],
      next_cursor: null,
    },
  },
  "get /zones/{zone}/delegation": { answer: DELEGATION },
  "post /zones/{zone}/delegation/check": {
    answer: {
      ...DELEGATION,
      check: {
        at: "2026-03-02T09:30:13.000Z",
        ageMs: 0,
        tookMs: 68,
        problems: 1,
        findings: [
          {
            subject: "name servers",
            id: "server-silent",
            severity: "problem",
            what: "A name server gives no answer over UDP: nobody listens there (192.0.2.53).",
            remedy: "Let UDP in to 192.0.2.53 port 53, and see that a GTM listens there (dns.listen).",
          },
        ],
      },
    },
  },
};
