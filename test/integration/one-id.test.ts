/** One decision has one id, whoever shows it: asked by DNS, by a redirect and by a forward. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { InstanceId } from "#shared/ids.ts";
import { decisionsKey } from "#shared/keys.ts";
import { askUdp } from "#test/support/dns-client.ts";
import { type House, startHouse } from "#test/support/house.ts";
import { until } from "#test/support/until.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";

const [A, TXT] = [1, 16];
type Way = { readonly house: House; readonly events: () => string; readonly stop: () => Promise<void> };

const opened = async (mode: "redirect" | "forward"): Promise<Way> => {
  const house = await startHouse({
    ...{ regions: { probe: undefined }, pool: { mode } },
    dns: { why: { allow: ["127.0.0.0/8"] } },
  });
  const aborter = new AbortController();
  const stream = await fetch(`${house.adminUrl}/events`, { signal: aborter.signal });
  let text = "";
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const octets of stream.body ?? []) text += decoder.decode(octets, { stream: true });
  })().catch(() => {
    // It is cut off when the test has seen enough.
  });
  return {
    ...{ house, events: () => text },
    stop: async () => {
      aborter.abort();
      await reading;
      await house[Symbol.asyncDispose]();
    },
  };
};

const mustBeEverywhere = async ({ house, events }: Way, id: string): Promise<void> => {
  assert.match(id, /^[0-9A-Z]{26}$/);
  assert.equal((await house.decision(id)).id, id);
  const server = ["--server", new URL(house.adminUrl).origin];
  for (const words of [
    ["explain", id],
    ["decisions", "show", id],
    ["decisions", "list", "-o", "jsonl"],
  ]) {
    const { exitCode, out, err } = await runCli([...words, ...server]);
    assert.equal(exitCode, 0, err);
    assert.ok(out.includes(id), `${words.join(" ")}: ${out}`);
  }
  await until(() => events().includes(`"id":"${id}"`), "it is among the events");
  const key = decisionsKey(InstanceId.parse("test"));
  await until(
    async () => (await house.store.newest(key, 100)).some(({ value }) => value.includes(id)),
    "it is in the store's stream",
  );
  const page = await fetch(`${new URL(house.adminUrl).origin}/#/decision/${id}`);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /id="page"/);
};

describe("the id of one decision", () => {
  const ways = new Map<string, Way>();
  before(async () => {
    for (const mode of ["redirect", "forward"] as const) ways.set(mode, await opened(mode));
  });
  after(async () => {
    for (const way of ways.values()) await way.stop();
  });
  const wayOf = (mode: string): Way => {
    const way = ways.get(mode);
    assert.ok(way !== undefined);
    return way;
  };

  it("asked by DNS is in what `dig TXT why.…` says, and everywhere else", async () => {
    const way = wayOf("redirect");
    const { dns } = way.house;
    assert.equal((await askUdp(dns, { name: "chat.llm.test", type: A })).data.length, 1);
    const why = (await askUdp(dns, { name: "why.chat.llm.test", type: TXT })).packet.answers ?? [];
    const texts = why.flatMap((answer) => ("data" in answer ? [String([answer.data].flat())] : []));
    const id = texts.flatMap((text) => /decision=([0-9A-Z]{26})/.exec(text)?.[1] ?? [])[0] ?? "";
    await mustBeEverywhere(way, id);
  });
  for (const [mode, statuses] of [
    ["redirect", [307]],
    ["forward", [200]],
  ] as const) {
    it(`asked by HTTP and answered by a ${mode} is in the answer's header, and everywhere else`, async () => {
      const way = wayOf(mode);
      const { status, headers } = await way.house.ask({ conversation: `one-${mode}`, tokens: 1_000 });
      assert.ok(
        statuses.some((one) => one === status),
        `${status}`,
      );
      await mustBeEverywhere(way, String(headers["x-gtm-decision"]));
    });
  }
});
