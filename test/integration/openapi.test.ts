/** The API's description: valid by somebody else's validator, whole, and what the API really answers. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { ANSWER_EXAMPLES } from "#gtm/wire/admin/examples/answer-examples.ts";
import { completed, type Description, type Operation } from "#gtm/wire/admin/openapi.ts";
import { OPERATIONS } from "#gtm/wire/admin/operation-notes.ts";
import { startHouse } from "#test/support/house.ts";
import { type Schemas, schemasOf } from "#test/support/openapi-schemas.ts";
import { until } from "#test/support/until.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";

let house: Awaited<ReturnType<typeof startHouse>>;
let document: Description;
let schemas: Schemas;
before(async () => {
  // A busy machine fails no probe.
  house = await startHouse({ regions: { probe: undefined } });
  document = (await (await fetch(`${house.adminUrl}/openapi.json`)).json()) as Description;
  schemas = schemasOf(document);
});
after(() => house[Symbol.asyncDispose]());

type Exemplified = {
  readonly schema?: { readonly anyOf?: readonly { readonly $ref: string }[] };
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
};
const examplesOf = ({ example, examples = {} }: Exemplified): readonly unknown[] => [
  ...(example === undefined ? [] : [example]),
  ...Object.values(examples).map(({ value }) => value),
];

type Named = { readonly name: string; readonly method: string; readonly path: string; readonly operation: Operation };
const operations = (): readonly Named[] =>
  Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, method, path, operation })),
  );

describe("the description", () => {
  it("is valid OpenAPI 3.1 to a validator that is not ours", async () => {
    const validator = new Validator();
    assert.deepEqual(await validator.validate(structuredClone(document)), { valid: true });
    assert.equal(validator.version, "3.1");
  });
  it("is refused by that validator once something in it is wrong", async () => {
    for (const wrong of [
      { ...document, info: { title: "no version" } },
      { ...document, paths: { "/x": { get: { responses: { 200: { $ref: "#/components/responses/Nowhere" } } } } } },
    ]) {
      assert.equal((await new Validator().validate(structuredClone(wrong))).valid, false);
    }
  });
  it("gives every operation an id of its own, a declared tag, a summary, a description and its problems", () => {
    const tags = new Set((document["tags"] as readonly { name: string }[]).map(({ name }) => name));
    const ids = new Set<string>();
    for (const { name, operation } of operations()) {
      const { operationId } = operation as { operationId?: string };
      assert.ok(operationId !== undefined && !ids.has(operationId), `${name}: ${operationId}`);
      ids.add(operationId);
      assert.ok((operation.summary ?? "").length > 5, `${name}: summary`);
      const said = (operation.description ?? "").replace(/Needs the role [a-z]+\.$/, "").trim();
      assert.ok(said.length > 10, `${name}: a description; where the route has none, operation-notes.ts has it`);
      assert.ok((operation.tags ?? []).length > 0, `${name}: a tag`);
      for (const tag of operation.tags ?? []) assert.ok(tags.has(tag), `${name}: tag ${tag} is not in TAGS`);
      for (const status of ["401", "403", "4XX", "5XX"]) assert.ok(status in operation.responses, `${name}: ${status}`);
    }
    assert.ok(ids.size > 30, `${ids.size} operations`);
  });
  it("has an example of every parameter in a path, and each fits its schema", () => {
    for (const { name, method, path, operation } of operations()) {
      for (const [at, parameter] of (operation.parameters ?? []).entries()) {
        const example = parameter["example"] ?? parameter.schema?.["example"];
        const isNeeded = parameter.in === "path";
        assert.ok(!isNeeded || example !== undefined, `${name}: an example of ${parameter.name}`);
        const place = ["paths", path, method, "parameters", at, "schema"];
        if (example !== undefined) assert.deepEqual(schemas.faultsOf(place, example), [], name);
      }
    }
  });
  it("has an example of every body, and each fits its schema", () => {
    for (const { name, method, path, operation } of operations()) {
      for (const [type, { example }] of Object.entries(operation.requestBody?.content ?? {})) {
        assert.notEqual(example, undefined, `${name}: an example of its body, in operation-notes.ts`);
        const place = ["paths", path, method, "requestBody", "content", type, "schema"];
        assert.deepEqual(schemas.faultsOf(place, example), [], name);
      }
    }
  });
  it("has an example of every answer in JSON, and each fits its schema", () => {
    for (const { name, method, path, operation } of operations()) {
      for (const status of ["200", "201"].filter((one) => one in operation.responses)) {
        const { content } = operation.responses[status] as { readonly content?: Record<string, Exemplified> };
        const json = content?.["application/json"];
        if (json === undefined) continue;
        const examples = examplesOf(json);
        assert.ok(examples.length > 0, `${name}: an example of its answer, in examples/`);
        const place = ["paths", path, method, "responses", status, "content", "application/json", "schema"];
        for (const example of examples) assert.deepEqual(schemas.faultsOf(place, example), [], name);
      }
    }
  });
  it("has an example of every alternative of an answer", () => {
    for (const { name, operation } of operations()) {
      const { content } = operation.responses["200"] as { readonly content?: Record<string, Exemplified> };
      const { schema, ...json } = content?.["application/json"] ?? {};
      for (const { $ref } of schema?.anyOf ?? []) {
        const place = $ref.replace("#/", "").split("/");
        const fitting = examplesOf(json).filter((example) => schemas.faultsOf(place, example).length === 0);
        // Shown with overrides; an operation has one plan for an example.
        const isElsewhere = name === "post /api/v1/operations/{id}/cancel" && $ref.endsWith("/OverridePlan");
        assert.ok(fitting.length > 0 || isElsewhere, `${name}: an example of ${$ref}`);
      }
    }
  });
  it("has examples of answers of operations that are there, and of no others", () => {
    const there = operations().map(({ name }) => name.replace("/api/v1", ""));
    assert.deepEqual(
      Object.keys(ANSWER_EXAMPLES).filter((name) => !there.includes(name)),
      [],
    );
  });
  it("has notes on operations that are there, and on no others", () => {
    const there = operations().map(({ name }) => name.replace("/api/v1", ""));
    assert.deepEqual(
      Object.keys(OPERATIONS).filter((name) => !there.includes(name)),
      [],
    );
  });
  it("names for every operation the command that does the same", async () => {
    const without: string[] = [];
    for (const { name, operation } of operations()) {
      const command = (operation as { "x-gtm-command"?: string })["x-gtm-command"];
      if (command === undefined) without.push(name.replace("/api/v1", ""));
      else {
        const words = command.split(" ").slice(1);
        const options = [...command.matchAll(/ (--[a-z-]+)/g)].map(([, option = ""]) => option);
        const helps = await Promise.all([2, 1].map((most) => runCli([...words.slice(0, most), "--help"])));
        const help = helps.find(({ exitCode, out }) => exitCode === 0 && out.includes("Examples:"));
        assert.ok(help !== undefined, `${name}: ${command}`);
        for (const option of options) assert.ok(help.out.includes(option), `${name}: ${command}: ${option}`);
      }
    }
    // A token's owner, the API's version, the page's overview, and lego's own calls.
    assert.deepEqual(without.sort(), [
      "get /recent",
      "get /version",
      "get /whoami",
      "post /acme/cleanup",
      "post /acme/present",
    ]);
  });
  it("keeps what a route says of itself", () => {
    const own = { description: "Its own.", summary: "s", responses: { 200: { description: "ok" } } };
    const { paths } = completed({ paths: { "/api/v1/regions": { get: own } } }, () => "viewer");
    assert.equal(paths?.["/api/v1/regions"]?.["get"]?.description, "Its own. Needs the role viewer.");
  });
});

describe("what the API answers", () => {
  it("is what the description says, for every address that is read", async () => {
    for (let turn = 1; turn <= 3; turn++) await house.ask({ conversation: "openapi", tokens: 1_000 + turn * 100 });
    const decision = String((await house.ask({ conversation: "openapi", tokens: 1_500 })).headers["x-gtm-decision"]);
    const conversation = (await house.decision(decision)).conversation?.id ?? "";
    const post = async (path: string, body: object): Promise<{ readonly id: string }> => {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(house.adminUrl + path, { method: "POST", headers, body: JSON.stringify(body) });
      const text = await answer.text();
      assert.equal(answer.status, 200, `POST ${path}: ${text}`);
      return JSON.parse(text) as { id: string };
    };
    const wish = { kind: "deny", region: "us-east", tenant: "acme", comment: "a test", for: "1h" };
    const override = await post("/overrides", wish);
    await post("/regions/us-east/drain", { mode: "drain-new", comment: "a test", for: "1h" });
    await until(async () => (await house.region("us-east")).admin === "drain-new");
    const subjects: Readonly<Record<string, string>> = {
      "/api/v1/regions/{id}": "us-east",
      "/api/v1/regions/{id}/history": "us-east",
      "/api/v1/overrides/{id}": override.id,
      "/api/v1/conversations/{id}": conversation,
      "/api/v1/decisions/{id}": decision,
      "/api/v1/zones/{zone}/records": "llm.test",
      "/api/v1/zones/{zone}/delegation": "llm.test",
    };
    const asked: string[] = [];
    for (const named of operations()) {
      if (named.method !== "get" || named.path === "/api/v1/events") continue;
      const subject = subjects[named.path] ?? (await firstOf(named.path));
      if (subject === null) continue;
      await mustAnswerAsDescribed(named, subject);
      asked.push(named.path);
    }
    assert.ok(asked.length >= 16, asked.join(" "));
  });
  it("is what the description says, for every body that only looks", async () => {
    const bodies: Readonly<Record<string, object>> = {
      "/explain": { pool: "chat", client: "192.0.2.7" },
      "/what-if": { regions: { "eu-central": "drain-all" } },
      "/regions/eu-central/drain?dry_run=true": { mode: "drain-all", comment: "a test" },
      "/overrides?dry_run=true": { kind: "deny", region: "us-east", tenant: "acme", comment: "a test", for: "1h" },
    };
    for (const [path, body] of Object.entries(bodies)) {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(house.adminUrl + path, { method: "POST", headers, body: JSON.stringify(body) });
      assert.equal(answer.status, 200, path);
      const template = `/api/v1${path.replace("eu-central", "{id}").replace(/\?.*/, "")}`;
      assert.deepEqual(schemas.faultsOf(goodAnswer(template, "post"), await answer.json()), [], path);
    }
  });
  it("is a problem as described where something is wrong", async () => {
    for (const path of ["/regions/nowhere", "/decisions/x", "/decisions?limit=0", "/nothing"]) {
      const answer = await fetch(house.adminUrl + path);
      assert.ok(answer.status === 400 || answer.status === 404, path);
      assert.equal(answer.headers.get("content-type"), "application/problem+json");
      assert.deepEqual(schemas.faultsOf(["components", "schemas", "Problem"], await answer.json()), [], path);
    }
  });
});

const goodAnswer = (path: string, method: string): readonly string[] => {
  const json = ["responses", "200", "content", "application/json", "schema"];
  return ["paths", path, method, ...json];
};

const mustAnswerAsDescribed = async ({ name, path, operation }: Named, subject: string): Promise<void> => {
  const needed = (operation.parameters ?? []).filter((one) => one.in === "query" && one["required"] === true);
  const query = new URLSearchParams(
    needed.map((one): [string, string] => [one.name, String(one["example"] ?? one.schema?.["example"])]),
  );
  const answer = await fetch(`${new URL(house.adminUrl).origin}${path.replace(/\{[^}]+\}/, subject)}?${query}`);
  const text = await answer.text();
  assert.equal(answer.status, 200, `${name} with ${subject}: ${text}`);
  assert.deepEqual(schemas.faultsOf(goodAnswer(path, "get"), JSON.parse(text)), [], name);
};

/** The first of a list, for an address that takes one of its items; "": it takes none. null: the list is empty. */
const firstOf = async (path: string): Promise<string | null> => {
  const [list, name] = /^(.*)\/\{([^}]+)\}$/.exec(path)?.slice(1) ?? [];
  if (list === undefined || name === undefined) return "";
  const { items = [] } = (await (await fetch(new URL(house.adminUrl).origin + list)).json()) as {
    items?: readonly Record<string, unknown>[];
  };
  const first = items[0]?.[name] ?? items[0]?.["id"];
  return typeof first === "string" ? encodeURIComponent(first) : null;
};
