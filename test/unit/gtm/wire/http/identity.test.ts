import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import { describe, it } from "node:test";
import { IDENTITY_SOURCES, type IdentitySource } from "#gtm/domain/identity-source.ts";
import { type Asked, createIdentify, type Identity } from "#gtm/wire/http/identity.ts";
import type { Scalar } from "#gtm/wire/http/kept-scalars.ts";
import type { State } from "#gtm/wire/http/state.ts";
import { PoolName } from "#shared/ids.ts";
import { createLabels, ephemeralLabelKeys } from "#shared/pin-token.ts";
import { regionId } from "#test/support/builders.ts";

const labels = createLabels(ephemeralLabelKeys());
const NOW = Date.UTC(2026, 10, 30, 12);
const HOUR_MS = 3_600_000;
const regions = [regionId("frankfurt"), regionId("virginia")];
const conversation = labels.conversationIdOf("acme", "thread 1");
const tokenFor = (region: string, issuedAtMs = NOW): string =>
  labels.mint({ pool: PoolName.parse("chat"), region: regionId(region), conversation, issuedAtMs });

type Wish = {
  readonly headers?: IncomingHttpHeaders;
  readonly query?: string;
  readonly body?: Readonly<Record<string, Scalar>> | null;
  readonly tooLong?: readonly string[];
  readonly label?: string;
  readonly tenant?: string;
  readonly order?: readonly IdentitySource[];
  readonly fingerprint?: string;
  readonly state?: Asked["state"];
  readonly named?: string;
};
const asked = ({
  headers = {},
  query = "",
  body = {},
  tooLong = [],
  label,
  tenant = "acme",
  ...wish
}: Wish): Asked => ({
  headers,
  query,
  tenant,
  isBodyRead: body !== null,
  scanned:
    body === null
      ? null
      : {
          isObject: true,
          values: new Map(Object.entries(body)),
          tooLong: new Set(tooLong),
          blobBytes: 0,
          fingerprint: wish.fingerprint ?? null,
        },
  state: wish.state ?? null,
  named: wish.named ?? null,
  hostLabel: label === undefined ? null : labels.read(label),
  nowEpochMs: NOW,
});
const identify = (wish: Wish): Identity | null =>
  createIdentify({ labels, order: wish.order ?? IDENTITY_SOURCES, regions, pinHintMs: HOUR_MS })(asked(wish));

const everything: Required<Pick<Wish, "headers" | "query" | "body" | "fingerprint">> = {
  fingerprint: "by-opening",
  headers: {
    "x-conversation-id": "by-header",
    "x-claude-code-session-id": "by-client",
  },
  query: "a=b&conversation=by-query",
  body: {
    prompt_cache_key: "by-cache-key",
    "metadata.session_id": "by-session",
    "metadata.user_id": "by-metadata-user",
    user: "by-user",
  },
};
const isNamed = (name: string): Partial<Identity> => ({ conversationId: labels.conversationIdOf("acme", name) });

describe("a request that names its conversation in many ways", () => {
  it("belongs to the one of its pin token, which also says where that lives", () => {
    const headers = { ...everything.headers, "x-gtm-pin": tokenFor("virginia") };
    assert.deepEqual(identify({ ...everything, headers, label: tokenFor("frankfurt") }), {
      conversationId: conversation,
      pinnedTo: "virginia",
      parentId: null,
      source: "pin-token",
      isForged: false,
      ignored: [],
    });
  });
  it("else to the one of the label in its host", () => {
    const identity = identify({ ...everything, label: tokenFor("frankfurt") });
    assert.deepEqual(
      [identity?.source, identity?.conversationId, identity?.pinnedTo],
      ["host-label", conversation, "frankfurt"],
    );
  });
  const steps: readonly { source: IdentitySource; name: string }[] = [
    { source: "header", name: "by-header" },
    { source: "client-header", name: "by-client" },
    { source: "query", name: "by-query" },
    { source: "prompt-cache-key", name: "prompt-cache-key\0by-cache-key\0by-opening" },
    { source: "session", name: "by-session" },
    { source: "metadata-user", name: "by-metadata-user" },
    { source: "fingerprint", name: "fingerprint\0by-opening" },
    { source: "user", name: "user\0by-user" },
  ];
  for (const { source, name } of steps) {
    it(`else, from ${source} on, to the one that ${source} names`, () => {
      const order = IDENTITY_SOURCES.slice(IDENTITY_SOURCES.indexOf(source));
      const identity = identify({ ...everything, order });
      assert.deepEqual([identity?.source, identity?.conversationId], [source, isNamed(name).conversationId]);
      assert.equal(identity?.pinnedTo, null);
    });
  }
  it("belongs to what a configured order asks first", () => {
    assert.equal(identify({ ...everything, order: ["user", "header"] })?.source, "user");
  });
});

describe("headers that name a conversation", () => {
  const byHeader: readonly (readonly [string, IdentitySource])[] = [
    ["x-conversation-id", "header"],
    ["x-session-id", "header"],
    ["x-session-affinity", "header"],
    ["x-claude-code-session-id", "client-header"],
    ["session_id", "client-header"],
    ["x-openwebui-chat-id", "client-header"],
    ["x-litellm-session-id", "client-header"],
    ["x-smg-routing-key", "client-header"],
    ["x-dynamo-session-id", "client-header"],
    ["x-aibrix-session-key", "client-header"],
  ];
  for (const [header, source] of byHeader) {
    it(`include ${header}`, () => {
      const identity = identify({ headers: { [header]: "thread 1" } });
      assert.deepEqual([identity?.source, identity?.conversationId], [source, conversation]);
    });
  }
});

describe("Claude Code's agents", () => {
  const session = { "x-claude-code-session-id": "s" };
  const agent = { ...session, "x-claude-code-agent-id": "a" };
  const nested = { ...session, "x-claude-code-agent-id": "b", "x-claude-code-parent-agent-id": "a" };
  it("are conversations of their own, each the child of what spawned it", () => {
    const [main, first, second] = [session, agent, nested].map((headers) => identify({ headers }));
    assert.equal(main?.parentId, null);
    assert.equal(first?.parentId, main?.conversationId);
    assert.equal(second?.parentId, first?.conversationId);
    assert.equal(new Set([main, first, second].map((one) => one?.conversationId)).size, 3);
  });
});

describe("a parent", () => {
  for (const header of ["x-gtm-parent-conversation", "x-dynamo-parent-session-id", "x-codex-parent-thread-id"]) {
    it(`is what ${header} names, as a header would name it`, () => {
      const identity = identify({ headers: { [header]: "thread 1", "x-session-id": "child" } });
      assert.deepEqual([identity?.parentId, identity?.source], [conversation, "header"]);
    });
  }
  it("may be named by its pin token", () => {
    const headers = { "x-gtm-parent-conversation": tokenFor("virginia"), "x-session-id": "child" };
    assert.equal(identify({ headers })?.parentId, conversation);
  });
  it("of more than 256 octets is passed over and told", () => {
    const headers = { "x-gtm-parent-conversation": "x".repeat(257), "x-session-id": "child" };
    assert.deepEqual([identify({ headers })?.parentId, identify({ headers })?.ignored], [null, ["parent"]]);
  });
  it("of another tenant is another one", () => {
    const headers = { "x-gtm-parent-conversation": "thread 1", "x-session-id": "child" };
    assert.notEqual(identify({ headers, tenant: "other" })?.parentId, conversation);
  });
});

describe("a turn that continues what is stored", () => {
  const state = (wish: Partial<State>): State => ({
    id: "resp_1",
    kind: "response",
    region: null,
    conversation: null,
    ...wish,
  });
  const body = { user: "u" };
  it("is of the conversation that its gateway told of", () => {
    const identity = identify({ state: state({ conversation, region: regionId("virginia") }), body });
    assert.deepEqual([identity?.source, identity?.conversationId, identity?.pinnedTo], ["state", conversation, null]);
  });
  it("comes behind a label and before a header", () => {
    const known = state({ conversation });
    assert.equal(identify({ state: known, label: tokenFor("virginia") })?.source, "host-label");
    assert.equal(identify({ state: known, headers: { "x-session-id": "s" } })?.source, "state");
  });
  it("is of the stored conversation that it names, also where nobody told of it", () => {
    const first = identify({ state: state({ kind: "conversation", id: "conv_1" }) });
    assert.equal(first?.source, "state");
    assert.equal(
      identify({ state: state({ kind: "conversation", id: "conv_1" }), body })?.conversationId,
      first?.conversationId,
    );
  });
  it("is asked by its other names where nobody told of its response, and not by what it says", () => {
    assert.equal(identify({ state: state({}), fingerprint: "f", body })?.source, "user");
  });
});

describe("a question that names its conversation itself", () => {
  it("is about that one, whatever its headers name", () => {
    const identity = identify({ named: "thread 1", headers: { "x-session-id": "s" }, label: tokenFor("virginia") });
    assert.deepEqual([identity?.source, identity?.conversationId, identity?.pinnedTo], ["steer", conversation, null]);
  });
  it("may name it by its label, which says where it lives", () => {
    const identity = identify({ named: tokenFor("virginia") });
    assert.deepEqual([identity?.conversationId, identity?.pinnedTo], [conversation, "virginia"]);
  });
});

describe("one prompt cache key", () => {
  const of = (fingerprint: string, key = "app") =>
    identify({ body: { prompt_cache_key: key }, fingerprint })?.conversationId;
  it("covers many conversations, told apart by how they open", () => {
    assert.equal(of("f"), of("f"));
    assert.notEqual(of("f"), of("g"));
    assert.notEqual(of("f"), of("f", "other"));
  });
  it("is a name by itself where nothing opens", () => {
    assert.equal(identify({ body: { prompt_cache_key: "app" } })?.source, "prompt-cache-key");
  });
});

describe("a name", () => {
  it("is another conversation for another tenant", () => {
    const headers = { "x-session-id": "thread 1" };
    assert.equal(identify({ headers })?.conversationId, conversation);
    assert.notEqual(identify({ headers, tenant: "other" })?.conversationId, conversation);
  });
  it("of 256 octets is taken, of 257 passed over and told", () => {
    assert.equal(identify({ headers: { "x-session-id": "x".repeat(256) } })?.source, "header");
    const long = identify({ headers: { "x-session-id": "x".repeat(257) }, query: "conversation=q" });
    assert.deepEqual([long?.source, long?.ignored], ["query", ["header"]]);
  });
  it("is measured in octets, not letters", () => {
    assert.equal(identify({ body: { user: "é".repeat(128) } })?.source, "user");
    assert.deepEqual(identify({ body: { user: "é".repeat(129) } })?.ignored, ["user"]);
  });
  it("that the scan gave up is passed over and told", () => {
    const identity = identify({ tooLong: ["metadata.user_id"], body: { user: "u" } });
    assert.deepEqual([identity?.source, identity?.ignored], ["user", ["metadata-user"]]);
  });
  it("that is empty or no text is none", () => {
    const body = { user: 7, prompt_cache_key: "", "metadata.session_id": null };
    assert.equal(identify({ headers: { "x-session-id": "" }, query: "conversation=", body })?.source, "none");
  });
  it("in the query is decoded", () => {
    assert.equal(identify({ query: "conversation=thread%201" })?.conversationId, conversation);
    assert.equal(identify({ query: "conversation=thread+1" })?.conversationId, conversation);
    assert.equal(identify({ query: "my_conversation=thread+1" })?.source, "none");
  });
});

describe("a pin token", () => {
  it("that is older than an hour keeps its conversation and says nothing of the home", () => {
    const identity = identify({ headers: { "x-gtm-pin": tokenFor("frankfurt", NOW - HOUR_MS - 60_000) } });
    assert.deepEqual([identity?.conversationId, identity?.pinnedTo], [conversation, null]);
  });
  it("of a region that is no longer configured says nothing of the home", () => {
    assert.equal(identify({ headers: { "x-gtm-pin": tokenFor("tokyo") } })?.pinnedTo, null);
  });
  it("that was altered is a stranger's name, and told", () => {
    const token = tokenFor("frankfurt");
    const altered = token.slice(0, -1) + (token.endsWith("0") ? "1" : "0");
    const identity = identify({ headers: { "x-gtm-pin": altered } });
    assert.equal(identity?.isForged, true);
    assert.equal(identity?.pinnedTo, null);
    assert.notEqual(identity?.conversationId, conversation);
    assert.notEqual(identity?.conversationId, null);
  });
  it("of any other text is a stranger's name", () => {
    const identity = identify({ headers: { "x-gtm-pin": "my-chat" } });
    assert.deepEqual([identity?.source, identity?.isForged, identity?.pinnedTo], ["pin-token", false, null]);
  });
  it("of more than 256 octets is passed over", () => {
    assert.deepEqual(identify({ headers: { "x-gtm-pin": "p".repeat(257) } })?.ignored, ["pin-token"]);
  });
});

describe("before the body is read", () => {
  it("a header is enough, since no source before it would be in the body", () => {
    assert.equal(identify({ headers: { "x-session-id": "s" }, body: null })?.source, "header");
  });
  it("nothing is said where only the body may tell", () => {
    assert.equal(identify({ body: null }), null);
  });
  it("nothing is said where the body is asked first", () => {
    assert.equal(identify({ headers: { "x-session-id": "s" }, body: null, order: ["user", "header"] }), null);
  });
});
