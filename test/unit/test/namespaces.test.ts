import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { mayMakeNamespaces, openNamespaces } from "#test/support/namespaces.ts";
import { remedyFor, type Surroundings } from "#test/support/namespaces-remedy.ts";

const statusOf = (effective: string): string => `Name:\tnode\nCapEff:\t${effective}\nCapBnd:\t000001ffffffffff\n`;

describe("who may make network namespaces without a user namespace", () => {
  const cases: readonly { readonly who: string; readonly effective: string; readonly may: boolean }[] = [
    { who: "root", effective: "000001ffffffffff", may: true },
    { who: "an ordinary user", effective: "0000000000000000", may: false },
    { who: "root of a plain container", effective: "00000000a80425fb", may: false },
    { who: "root of a container with NET_ADMIN", effective: "00000000a80435fb", may: false },
    { who: "somebody with the two that matter", effective: "0000000000201000", may: true },
  ];
  for (const { who, effective, may } of cases) {
    it(`${may ? "may" : "may not"}: ${who}`, () => {
      assert.equal(mayMakeNamespaces(statusOf(effective)), may);
    });
  }
});

describe("where network namespaces cannot be made", () => {
  const person = (settings: Readonly<Record<string, string>>): Surroundings => ({
    isRoot: false,
    isContainer: false,
    hasSudo: true,
    setting: (name) => settings[name] ?? null,
  });
  const allowed = { "kernel.unprivileged_userns_clone": "1", "user.max_user_namespaces": "96364" };
  const debian = { "kernel.unprivileged_userns_clone": "0" };
  const ubuntu = { "kernel.apparmor_restrict_unprivileged_userns": "1" };
  const cases: readonly { readonly who: string; readonly is: Surroundings; readonly line: string }[] = [
    { who: "Debian's setting", is: person(debian), line: "sudo sysctl -w kernel.unprivileged_userns_clone=1" },
    {
      who: "Ubuntu's setting",
      is: person({ ...allowed, ...ubuntu }),
      line: "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    },
    {
      who: "a limit of none, without sudo",
      is: { ...person({ "user.max_user_namespaces": "0" }), hasSudo: false },
      line: "su -c 'sysctl -w user.max_user_namespaces=10000'",
    },
    {
      who: "two settings at once",
      is: person({ ...debian, ...ubuntu }),
      line: "sudo sysctl -w kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0",
    },
    { who: "a container's root", is: { ...person(ubuntu), isRoot: true }, line: "docker run --privileged …" },
    { who: "a container", is: { ...person(allowed), isContainer: true }, line: "docker run --privileged …" },
    { who: "something unknown", is: person(allowed), line: 'sudo env "PATH=$PATH" npm test' },
  ];
  for (const { who, is, line } of cases) {
    it(`gives the line to type: ${who}`, () => {
      const [what, told, ...more] = remedyFor(is).split("\n\n");
      assert.equal(told, `  ${line}\n`);
      assert.match(what ?? "", /:$/);
      assert.deepEqual(more, []);
    });
  }
  it("says where a container's host must change", () => {
    assert.match(remedyFor({ ...person(ubuntu), isContainer: true }), /Type, on the host of this container:/);
  });
});

describe("network namespaces", () => {
  it("are of this process alone, know their resolver, keep the folder, and take signals", async () => {
    const before = readFileSync("/etc/resolv.conf", "utf8");
    using namespaces = await openNamespaces("192.0.2.7");
    namespaces.ip(["netns", "add", "here"]);
    const { run, spawn } = namespaces.place("here");
    assert.deepEqual(await run(["cat", "/etc/resolv.conf"]), {
      exitCode: 0,
      stdout: "nameserver 192.0.2.7\n",
      stderr: "",
    });
    assert.equal((await run(["pwd", "-P"])).stdout, `${process.cwd()}\n`);
    assert.equal((await run(["ls", "/sys/class/net"])).stdout, "lo\n");
    assert.equal(readFileSync("/etc/resolv.conf", "utf8"), before);
    const child = spawn(["cat"], { stdio: ["pipe", "pipe", "ignore"] });
    const ended = Promise.withResolvers<NodeJS.Signals | null>();
    child.once("exit", (_, signal) => ended.resolve(signal));
    child.kill("SIGTERM");
    assert.equal(await ended.promise, "SIGTERM");
    assert.throws(() => namespaces.ip(["netns", "add", "here"]), /ip netns add here: .*File exists/);
  });
});
