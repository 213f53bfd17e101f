// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to variables are what these tests are about
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { z } from "zod";
import { loadConfig, parseConfig, readSecretFile } from "#shared/config.ts";
import { OperationalError } from "#shared/errors.ts";
import { duration, size } from "#shared/units.ts";

const Region = z.strictObject({
  id: z.string().regex(/^[a-z-]+$/, "must be lower case letters and hyphens"),
  weight: z.number().optional(),
  probe: z.strictObject({ interval: duration }).optional(),
});
const Settings = z.strictObject({
  version: z.literal(1),
  name: z.string().optional(),
  port: z.int().min(1).max(65_535).optional(),
  isQuiet: z.boolean().optional(),
  memory: size.optional(),
  mode: z.enum(["redirect", "forward"]).optional(),
  lastResort: z
    .discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("regions"), order: z.array(z.string()) }),
      z.strictObject({ kind: z.literal("nodata") }),
    ])
    .optional(),
  listen: z.union([z.string(), z.array(z.string())]).optional(),
  limits: z.record(z.string().regex(/^[a-z]+$/, "must be lower case letters"), z.int()).optional(),
  regions: z.array(Region).optional(),
});

const parse = (text: string, env: Record<string, string> = {}) =>
  parseConfig(Settings, text, { source: "gtm.yaml", env, code: "GTM_CONFIG_INVALID" });

/** The lines of what parsing throws. */
const faultsOf = (text: string, env: Record<string, string> = {}): readonly string[] => {
  try {
    parse(text, env);
  } catch (fault) {
    assert.ok(fault instanceof OperationalError, String(fault));
    assert.equal(fault.code, "GTM_CONFIG_INVALID");
    return fault.message.split("\n");
  }
  return [];
};

describe("a configuration without faults", () => {
  it("becomes what its schema makes of it", () => {
    const settings = parse(`
version: 1 # the format
name: "eu: 1"
memory: 141 GB
regions:
  - { id: eu-central, probe: { interval: 800ms } }
  - id: us-east
    weight: 0.5
`);
    assert.deepEqual(settings, {
      version: 1,
      name: "eu: 1",
      memory: 141_000_000_000,
      regions: [
        { id: "eu-central", probe: { interval: 800 } },
        { id: "us-east", weight: 0.5 },
      ],
    });
  });
  it("may be JSON, have Windows line ends, a byte order mark, anchors and aliases", () => {
    assert.deepEqual(parse('{"version": 1, "listen": ["a", "b"]}'), { version: 1, listen: ["a", "b"] });
    assert.deepEqual(parse("\ufeffversion: 1\r\nname: x\r\n"), { version: 1, name: "x" });
    const settings = parse(
      "version: 1\nregions:\n  - id: a\n    probe: &probe { interval: 1s }\n  - { id: b, probe: *probe }\n",
    );
    assert.deepEqual(settings.regions?.[1], { id: "b", probe: { interval: 1_000 } });
  });
});

describe("a configuration with thirteen faults", () => {
  const text = `version: 2
name: [x]
port: \${PORT}
isQuiet: maybe
memory: 3 bananas
mode: proxy
regions:
  - id: EU
    wieght: 1
  - weight: heavy
colour: red
mode: forward
lastResort: { kind: regions, order: [a, 1] }
`;
  const faults = faultsOf(text);
  it("names each of them, with its line and column, from the first line to the last", () => {
    assert.deepEqual(faults, [
      "gtm.yaml:1:10: version: expected 1",
      "gtm.yaml:2:7: name: expected string, received array",
      "gtm.yaml:3:7: port: the environment variable PORT is not set and has no default",
      "gtm.yaml:4:10: isQuiet: expected boolean, received string",
      "gtm.yaml:5:9: memory: must be a size with its unit, such as 141 GB or 80GiB",
      'gtm.yaml:6:7: mode: expected one of "redirect"|"forward"',
      "gtm.yaml:8:9: regions[0].id: must be lower case letters and hyphens",
      "gtm.yaml:9:5: regions[0].wieght: unknown key",
      "gtm.yaml:10:5: regions[1].id: missing, expected string",
      "gtm.yaml:10:13: regions[1].weight: expected number, received string",
      "gtm.yaml:11:1: colour: unknown key",
      "gtm.yaml:12:1: mode: this key stands here twice",
      "gtm.yaml:13:41: lastResort.order[1]: expected string, received number",
    ]);
  });
});

describe("a fault", () => {
  const cases: readonly {
    readonly when: string;
    readonly text: string;
    readonly says: readonly (string | RegExp)[];
  }[] = [
    { when: "the file is empty", text: "", says: ["gtm.yaml:1:1: expected object, received null"] },
    { when: "the file is a list", text: "- 1", says: ["gtm.yaml:1:1: expected object, received array"] },
    { when: "a required key is absent", text: "name: x", says: ["gtm.yaml:1:1: version: missing, expected 1"] },
    {
      when: "an alternative has no kind",
      text: "version: 1\nlastResort:\n  order: [a]",
      says: [/^gtm\.yaml:2:1: lastResort\.kind: missing/],
    },
    {
      when: "an alternative has a key of another",
      text: "version: 1\nlastResort: { kind: nodata, order: [a] }",
      says: ["gtm.yaml:2:29: lastResort.order: unknown key"],
    },
    {
      when: "of a union, the branch that got furthest fails",
      text: "version: 1\nlisten: [a, 2]",
      says: ["gtm.yaml:2:13: listen[1]: expected string, received number"],
    },
    {
      when: "a key of a table is malformed",
      text: "version: 1\nlimits: { ok: 1, NOT: 2 }",
      says: ["gtm.yaml:2:18: limits.NOT: not a key here: must be lower case letters"],
    },
    {
      when: "a value of a table is",
      text: "version: 1\nlimits: { ok: 1.5 }",
      says: [/^gtm\.yaml:2:15: limits\.ok: .*int/],
    },
    {
      when: "a value is null where none may be",
      text: "version: 1\nname:",
      says: ["gtm.yaml:2:6: name: expected string, received null"],
    },
    {
      when: "a key is __proto__",
      text: "version: 1\n__proto__: { a: 1 }",
      says: ["gtm.yaml:2:1: __proto__: unknown key"],
    },
    { when: "a key holds a dot", text: "version: 1\na.b: 1", says: ["gtm.yaml:2:1: a.b: unknown key"] },
    { when: "a tag is foreign", text: "version: 1\nname: !secret x", says: ["gtm.yaml:2:7: Unresolved tag: !secret"] },
    {
      when: "an alias has no anchor",
      text: "version: 1\nname: *nobody",
      says: ["gtm.yaml:2:7: name: the alias *nobody has no anchor before it"],
    },
    {
      when: "there are two documents",
      text: "version: 1\n---\nversion: 1",
      says: [/^gtm\.yaml:2:1: .*multiple documents/],
    },
  ];
  for (const { when, text, says } of cases) {
    it(`is told when ${when}`, () => {
      const faults = faultsOf(text);
      assert.equal(faults.length, says.length, faults.join("\n"));
      for (const [at, expected] of says.entries()) {
        if (typeof expected === "string") assert.equal(faults[at], expected);
        else assert.match(faults[at] ?? "", expected);
      }
    });
  }
  it("carries the code of the program that reads", () => {
    const options = { source: "agent.yaml", env: {}, code: "AGENT_CONFIG_INVALID" } as const;
    assert.throws(() => parseConfig(Settings, "", options), { code: "AGENT_CONFIG_INVALID" });
  });
});

describe("a configuration that is not YAML", () => {
  it("names the syntax and, beside it, what is wrong elsewhere", () => {
    const faults = faultsOf("version: 1\ncolour: red\nname: [a, b\nport: x\n");
    assert.match(faults.join("\n"), /^gtm\.yaml:2:1: colour: unknown key$/m);
    assert.match(faults.join("\n"), /^gtm\.yaml:[34]:\d+: .*sequence/m);
  });
  it("does not call missing what it could not read", () => {
    const faults = faultsOf('name: "open\nversion: 1\n');
    assert.deepEqual(
      faults.filter((fault) => fault.includes("missing,")),
      [],
    );
  });
  it("says to quote a variable inside brackets", () => {
    const [fault] = faultsOf("version: 1\nlisten: [${ADDRESS}]", { ADDRESS: "a" });
    assert.match(fault ?? "", /^gtm\.yaml:2:\d+: .*write "\$\{NAME\}" with quotes/);
  });
  it("indented with a tab says so", () => {
    assert.match(faultsOf("version: 1\nlimits:\n\ta: 1").join("\n"), /^gtm\.yaml:3:1: Tabs are not allowed/m);
  });
});

describe("a variable in a configuration", () => {
  const env = { PORT: "5300", QUIET: "true", DIGITS: "123456789012", HOST: "gtm-1" };
  it("is a number or a boolean where the schema wants one", () => {
    const settings = parse("version: 1\nport: ${PORT}\nisQuiet: ${QUIET}\nlimits: { a: 1 }", env);
    assert.equal(settings.port, 5_300);
    assert.equal(settings.isQuiet, true);
  });
  it("stays text where the schema wants text, though it looks like a number", () => {
    assert.equal(parse("version: 1\nname: ${DIGITS}", env).name, "123456789012");
  });
  it("stays text in quotes", () => {
    assert.deepEqual(faultsOf('version: 1\nport: "${PORT}"', env), [
      "gtm.yaml:2:7: port: expected number, received string",
    ]);
  });
  it("is checked as a number then", () => {
    assert.match(faultsOf("version: 1\nport: ${PORT}", { PORT: "70000" })[0] ?? "", /^gtm\.yaml:2:7: port: .*65535/);
    assert.deepEqual(faultsOf("version: 1\nport: ${PORT}", { PORT: "0x50" }), [
      "gtm.yaml:2:7: port: expected number, received string",
    ]);
  });
  it("may be part of a text and have a default", () => {
    assert.equal(parse("version: 1\nname: ${HOST}.${ZONE:-example.org}", env).name, "gtm-1.example.org");
  });
  it("is never taken for structure", () => {
    assert.equal(parse("version: 1\nname: ${X}", { X: "a\nport: 1" }).name, "a\nport: 1");
  });
  it("that is missing is one fault, not two", () => {
    assert.equal(faultsOf("version: 1\nport: ${NONE}").length, 1);
  });
});

describe("a configuration made to harm", () => {
  it("of aliases within aliases is refused soon", () => {
    const lines = ["a: &a [x,x,x,x,x,x,x,x,x]"];
    for (const [name, from] of ["ba", "cb", "dc", "ed", "fe", "gf", "hg", "ih"]) {
      lines.push(`${name}: &${name} [${Array(9).fill(`*${from}`).join(",")}]`);
    }
    assert.match(faultsOf(lines.join("\n")).join("\n"), /more than 100000 values, aliases counted/);
  });
  it("of an alias within itself is refused", () => {
    assert.match(faultsOf("version: 1\nname: &a [*a]").join("\n"), /nested more than 32 levels deep/);
  });
  it("of ten thousand brackets is refused in a line or two", () => {
    const faults = faultsOf("[".repeat(10_000));
    assert.ok(faults.length <= 3, faults.join("\n"));
    assert.match(faults.join("\n"), /nested/);
  });
  it("of 10 MB is refused unread", () => {
    const faults = faultsOf(`name: ${"x".repeat(10_000_000)}`);
    assert.deepEqual(faults, ["gtm.yaml:1:1: expected at most 1048576 bytes, found 10000006"]);
  });
});

describe("files", () => {
  const folder = mkdtempSync(join(tmpdir(), "gtm-config-"));
  after(() => rmSync(folder, { recursive: true }));
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const options = { env: {}, code: "GTM_CONFIG_INVALID" } as const;

  it("of configuration are read, and named in their faults", () => {
    assert.deepEqual(loadConfig(Settings, file("good.yaml", "version: 1"), options), { version: 1 });
    const bad = file("bad.yaml", "version: 2");
    assert.throws(() => loadConfig(Settings, bad, options), { message: `${bad}:1:10: version: expected 1` });
  });
  it("that are missing, folders or far too large are refused with their path", () => {
    const missing = join(folder, "none.yaml");
    assert.throws(() => loadConfig(Settings, missing, options), {
      code: "GTM_CONFIG_UNREADABLE",
      message: /none\.yaml/,
    });
    assert.throws(() => loadConfig(Settings, folder, options), { code: "GTM_CONFIG_UNREADABLE", message: /EISDIR/ });
    const large = file("large.yaml", "x".repeat(2_000_000));
    assert.throws(() => loadConfig(Settings, large, options), {
      code: "GTM_CONFIG_INVALID",
      message: /at most 1048576/,
    });
  });
  it("without an end are not read to it", () => {
    assert.throws(() => loadConfig(Settings, "/dev/zero", options), { code: "GTM_CONFIG_INVALID" });
    assert.throws(() => readSecretFile("/dev/zero"), { code: "GTM_CONFIG_UNREADABLE", message: /at most 65536 bytes/ });
  });
  it("of secrets lose the white space around them, and only that", () => {
    assert.equal(readSecretFile(file("secret", "  two words \r\n")), "two words");
  });
  it("of secrets that are missing or empty are refused with their path", () => {
    assert.throws(() => readSecretFile(join(folder, "none")), { code: "GTM_CONFIG_UNREADABLE", message: /none/ });
    assert.throws(() => readSecretFile(file("empty", " \n")), { code: "GTM_CONFIG_UNREADABLE", message: /is empty/ });
  });
});
