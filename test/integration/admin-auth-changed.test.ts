/** Who may use the admin API is changed while it runs: whoever was let in is judged anew at the next call, and event streams are let go. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "#test/support/until.ts";
import { type RunningAdmin, runningAdmin, tokensFile } from "#test/unit/gtm/wire/admin/running-admin.ts";

const statusOf = async (admin: RunningAdmin, token?: string): Promise<number> =>
  (await admin.ask("GET", "/whoami", token === undefined ? {} : { token })).status;

/** @returns whether it still goes on */
const streamOf = async (admin: RunningAdmin, token?: string) => {
  const response = await fetch(`${admin.url}/api/v1/events`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
  assert.equal(response.status, 200);
  let isOpen = true;
  const reading = (async () => {
    try {
      for await (const _ of response.body ?? []);
    } catch {
      // A stream that is let go is cut off.
    }
    isOpen = false;
  })();
  return { isOpen: () => isOpen, reading };
};

describe("admin.auth, changed while the API runs", () => {
  it("asks for tokens from the moment that there are some, and of open streams, too", async () => {
    await using tokens = await tokensFile();
    await using admin = await runningAdmin();
    const stream = await streamOf(admin);
    assert.equal(await statusOf(admin), 200);
    admin.changeAuth({ tokensFile: tokens.path });
    assert.deepEqual([await statusOf(admin), await statusOf(admin, tokens.of.viewer)], [401, 200]);
    await until(() => !stream.isOpen(), "the stream of before is let go");
    assert.deepEqual(admin.lines.at(-1)?.event === undefined, false);
    assert.ok(
      admin.lines.some(({ event, fields }) => event === "admin.auth-changed" && fields?.["hasTokens"] === true),
    );
  });
  it("takes another list: tokens of before are refused at the next call, and their streams are let go", async () => {
    await using before = await tokensFile();
    await using after = await tokensFile();
    await using admin = await runningAdmin({ tokensFile: before.path });
    const stream = await streamOf(admin, before.of.viewer);
    admin.changeAuth({ tokensFile: after.path });
    assert.deepEqual([await statusOf(admin, before.of.viewer), await statusOf(admin, after.of.viewer)], [401, 200]);
    await until(() => !stream.isOpen(), "the stream of before is let go");
  });
  it("keeps what stands where the new cannot be used, and keeps streams where nothing concerns them", async () => {
    await using tokens = await tokensFile();
    await using admin = await runningAdmin({ tokensFile: tokens.path });
    const stream = await streamOf(admin, tokens.of.viewer);
    assert.throws(() => admin.changeAuth({ tokensFile: `${tokens.path}.absent` }), { code: "GTM_CONFIG_UNREADABLE" });
    assert.equal(await statusOf(admin, tokens.of.viewer), 200);
    admin.changeAuth({ tokensFile: tokens.path, mostTokenMs: 3_600_000 });
    assert.equal(await statusOf(admin, tokens.of.viewer), 200);
    assert.equal(stream.isOpen(), true);
    const body = { name: "bob", role: "viewer", comment: "a test", for: "2h" };
    const long = await admin.ask("POST", "/tokens", { token: tokens.of.admin, body });
    assert.deepEqual([long.status, long.body.faults[0].at], [400, "body.for"]);
  });
});
