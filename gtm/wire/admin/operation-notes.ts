/** What the API's description says of each operation beside its schemas: the command that does the same, and examples. */
import { CHALLENGE, CHALLENGE_VALUE, CONVERSATION, DECISION, OPERATION, OVERRIDE, TOKEN } from "./examples/names.ts";

export type OperationNotes = {
  /** The command line that asks the same, without the program's name; absent: there is none. */
  readonly command?: string;
  /** Where the route says none itself. */
  readonly description?: string;
  /** Examples of parameters by name. */
  readonly parameters?: Readonly<Record<string, string | number>>;
  /** Example of the body. */
  readonly body?: unknown;
  readonly hasEtag?: true;
  readonly hasIfMatch?: true;
  /** Asked by POST for the length of what is asked. */
  readonly looksOnly?: true;
  /** Answers 503 while the store is away. */
  readonly readsStore?: true;
  readonly isStream?: true;
};

export const TAGS: readonly (readonly [name: string, description: string])[] = [
  ["status", "Who asks, how this GTM and the others on its store are."],
  ["config", "What this GTM is configured with, what another file would do, and the order to read it again."],
  ["regions", "Regions and the models placed in them: what was ordered, what reports say, what follows."],
  ["orders", "Drain, undrain, down, up: what a person orders of a whole region."],
  ["overrides", "What a person orders about some traffic, for a while."],
  ["operations", "Drains as they go on: what is left, when they may be done, how they ended."],
  ["conversations", "Where conversations are at home, and who holds how much of them."],
  ["decisions", "What was decided and why, what would be decided, and what would have been under other conditions."],
  ["events", "What happens, as it happens."],
  ["audit", "Who changed what, and who was refused."],
  ["tokens", "Who may use this API: tokens, what they may do, and until when."],
  ["zones", "The zone: its names, what its parent has to hold, and whether it does."],
  ["acme", "Answers to ACME DNS-01 challenges."],
];

const ORDER = { hasEtag: true, hasIfMatch: true } as const;

/** By method and path below /api/v1. */
export const OPERATIONS: Readonly<Record<string, OperationNotes>> = {
  "get /whoami": { description: "Useful to try a token." },
  "get /status": {
    command: "status",
    description: "State, degradations with their reasons and ages, the world's version and age, pools, regions.",
  },
  "get /version": { description: "Of the GTM that answers; `gtm version` tells that of the program itself." },
  "get /instances": { command: "instances", description: "Others were heard within the last 5 s." },
  "get /config": {
    command: "config show",
    description: "Each section with its hash; the file's faults where it is refused.",
  },
  "get /config/schema": { command: "schema", description: "Descriptions say when a change takes effect." },
  "post /config/check": {
    command: "config diff --file /etc/llm-gtm/gtm.yaml",
    looksOnly: true,
    body: { yaml: "version: 1\ninstance: gtm-1\n" },
  },
  "post /config/reload": { command: "config reload", body: { comment: "us-west is up" } },
  "get /agents": { command: "agents", description: "By region, as this instance hears them." },
  "get /models": {
    command: "models",
    description: "Also models that engines report and nobody configured. An alias stands for its model.",
    parameters: { model: "llama-3.3-70b" },
  },
  "get /zones": { command: "zones list", description: "With how many record sets of each kind, and the newest check." },
  "get /zones/{zone}/records": {
    command: "zones records",
    description: "Steered names with what a new conversation from each region's own place is answered now.",
    parameters: { kind: "pool", name: "chat" },
  },
  "get /zones/{zone}/delegation": {
    command: "zones delegation",
    description: "Asks nobody; what was found has its age.",
  },
  "post /zones/{zone}/delegation/check": {
    command: "zones delegation --check",
    description: "Whoever asks while one goes on, or within 5 s, gets the same.",
    body: {},
  },
  "get /recent": { description: "In buckets, oldest first; what the overview of the page shows." },
  "get /regions": { command: "regions", description: "All of them on one page." },
  "get /regions/{id}": { command: "regions eu-central", hasEtag: true, description: "With placements and replicas." },
  "get /regions/{id}/history": {
    command: "regions eu-central --history",
    description: "As this instance saw it, since it began to look.",
  },
  "get /placements": {
    command: "placements --region eu-central",
    description: "An alias stands for its model.",
    parameters: { region: "eu-central", model: "llama-3.3-70b" },
  },
  "post /regions/{id}/drain": {
    ...ORDER,
    command: 'drain eu-central --mode drain-new --comment "driver update" --for 2h',
    body: { mode: "drain-new", comment: "driver update", for: "2h" },
  },
  "post /regions/{id}/undrain": { ...ORDER, command: "undrain eu-central", body: { comment: "updated" } },
  "post /regions/{id}/down": {
    ...ORDER,
    command: 'down eu-central --comment "power failure"',
    body: { comment: "power failure" },
  },
  "post /regions/{id}/up": {
    ...ORDER,
    command: 'up eu-central --forced --comment "the probe is wrong" --for 1h',
    body: { forced: true, comment: "the probe is wrong", for: "1h" },
  },
  "get /operations": {
    command: "operations list",
    description: "Kept in the store with the orders: any GTM answers the same, also after a restart.",
    parameters: { state: "running", region: "eu-central" },
  },
  "get /operations/{id}": {
    command: `operations show ${OPERATION}`,
    description: "What is left comes from the ledger and from engines' reports, so it is as old as the answer.",
    hasEtag: true,
    parameters: { id: OPERATION },
  },
  "post /operations/{id}/cancel": {
    command: `operations cancel ${OPERATION}`,
    hasEtag: true,
    hasIfMatch: true,
    parameters: { id: OPERATION },
    body: { comment: "the driver is older than thought" },
  },
  "get /overrides": { command: "overrides list", description: "All of them on one page." },
  "post /overrides": {
    command: 'overrides add --kind deny --region us-east --tenant acme --comment "contract" --for 8h',
    hasEtag: true,
    body: { kind: "deny", region: "us-east", tenant: "acme", comment: "contract", for: "8h" },
  },
  "get /overrides/{id}": {
    command: `overrides show ${OVERRIDE}`,
    hasEtag: true,
    parameters: { id: OVERRIDE },
    description: "With what it did in the last minute.",
  },
  "patch /overrides/{id}": {
    ...ORDER,
    command: `overrides extend ${OVERRIDE} --for 4h`,
    parameters: { id: OVERRIDE },
    body: { for: "4h" },
  },
  "delete /overrides/{id}": {
    hasIfMatch: true,
    command: `overrides cancel ${OVERRIDE}`,
    parameters: { id: OVERRIDE },
  },
  "get /tokens": { command: "token list", description: "Tokens themselves are nowhere." },
  "get /tokens/{id}": {
    command: `token show ${TOKEN}`,
    hasEtag: true,
    parameters: { id: TOKEN },
    description: "Who made it, until when it stands, when it was used last; never the token itself.",
  },
  "post /tokens": {
    command:
      'token create --server http://127.0.0.1:9443 --role operator --name bob --regions "eu-*" --for 30d --comment "on call"',
    hasEtag: true,
    body: { name: "bob", role: "operator", regions: ["eu-*"], comment: "on call in Europe", for: "30d" },
  },
  "patch /tokens/{id}": {
    ...ORDER,
    command: `token extend ${TOKEN} --for 30d`,
    parameters: { id: TOKEN },
    body: { for: "30d" },
  },
  "delete /tokens/{id}": {
    hasIfMatch: true,
    command: `token revoke ${TOKEN} --with-made`,
    parameters: { id: TOKEN, with_made: "true" },
  },
  "get /acme-challenges": { command: "acme list", description: "Those that are answered now." },
  "post /acme-challenges": {
    command: `acme present ${CHALLENGE} ${CHALLENGE_VALUE}`,
    description: "Ten minutes where `for` is absent, an hour at most.",
    body: { name: CHALLENGE, value: CHALLENGE_VALUE },
  },
  "delete /acme-challenges/{name}": {
    command: `acme cleanup ${CHALLENGE}`,
    description: "All of a name's values, or the one that `value` names.",
    parameters: { name: CHALLENGE, value: CHALLENGE_VALUE },
  },
  "post /acme/present": { body: { fqdn: `${CHALLENGE}.`, value: CHALLENGE_VALUE } },
  "post /acme/cleanup": { body: { fqdn: `${CHALLENGE}.`, value: CHALLENGE_VALUE } },
  "get /audit": { command: "audit --actor alice", readsStore: true, parameters: { actor: "alice" } },
  "get /conversations": {
    command: "conversations list --region eu-central --sort tokens",
    readsStore: true,
    parameters: { region: "eu-central", model: "llama-3.3-70b", pool: "chat", tenant: "acme" },
  },
  "get /conversations/{id}": {
    command: `conversations show ${CONVERSATION}`,
    hasEtag: true,
    readsStore: true,
    description: "By label or id.",
    parameters: { id: CONVERSATION },
  },
  "delete /conversations/{id}": {
    command: `conversations release ${CONVERSATION}`,
    hasIfMatch: true,
    parameters: { id: CONVERSATION },
  },
  "post /conversations/{id}/move": {
    command: `conversations move ${CONVERSATION} --to us-east --comment "its client moved" --dry-run`,
    hasEtag: true,
    hasIfMatch: true,
    parameters: { id: CONVERSATION },
    body: { region: "us-east", comment: "its client moved" },
  },
  "get /decisions": {
    command: "decisions list --verdict migrated",
    description: "What this instance still has in memory; each whole, as one decision is shown.",
    parameters: { pool: "chat", region: "eu-central", conversation: CONVERSATION },
  },
  "get /decisions/{id}": {
    command: `decisions show ${DECISION}`,
    description: "The id is in the answer's header, the log, `dig TXT why.…` and the list.",
  },
  "post /explain": {
    command: `explain --pool chat --client 203.0.113.7 --conversation ${CONVERSATION} --prompt-tokens 18432`,
    looksOnly: true,
    description: "By the flow that decides, with a record that keeps nothing: no pin is claimed, no send is booked.",
    body: { pool: "chat", client: "203.0.113.7", conversation: CONVERSATION, prompt_tokens: 18_432 },
  },
  "get /snapshot": {
    command: `snapshot incident.json --pool chat --client 203.0.113.7 --conversation ${CONVERSATION}`,
    parameters: { pool: "chat", client: "203.0.113.7", conversation: CONVERSATION, prompt_tokens: 18_432 },
  },
  "post /what-if": {
    command: "what-if --deny us-east --tenant acme --last 500",
    looksOnly: true,
    body: {
      regions: { "eu-central": "drain-new" },
      overrides: [{ kind: "deny", region: "us-*", tenant: "acme" }],
      policy: { marginMs: 100 },
      last: 500,
    },
  },
  "get /events": {
    command: "events tail",
    isStream: true,
    parameters: { pool: "chat", region: "eu-central", conversation: CONVERSATION, kinds: "decision,region,operation" },
  },
};
