/** What a label costs where every redirect mints one and every labelled query reads one; the floor is the HMAC itself. */
import { createHmac } from "node:crypto";
import { PoolName, RegionId } from "#shared/ids.ts";
import { createLabels, ephemeralLabelKeys } from "#shared/pin-token.ts";
import { alternate, type Bench, type BenchRow, nsPerIteration } from "./bench.ts";

const ITERATIONS = 20_000;

export const bench: Bench = {
  name: "pin-token",
  run: async () => {
    const labels = createLabels(ephemeralLabelKeys());
    const conversation = labels.conversationIdOf("acme", "thread 1");
    const label = {
      pool: PoolName.parse("chat"),
      region: RegionId.parse("eu-central"),
      conversation,
      issuedAtMs: Date.UTC(2026, 10, 30),
    };
    const token = labels.mint(label);
    const [key, text] = [Buffer.alloc(32, 1), Buffer.alloc(19, 2)];

    const loopOf = (once: (i: number) => unknown) => (iterations: number) => {
      let last: unknown;
      for (let i = 0; i < iterations; i++) last = once(i);
      return last;
    };
    const hmac = loopOf(() => createHmac("sha256", key).update(text).digest());
    const rows: BenchRow[] = [];
    for (const [what, loop] of [
      ["mint", loopOf(() => labels.mint(label))],
      ["read", loopOf(() => labels.read(token))],
      ["conversationIdOf", loopOf((i) => labels.conversationIdOf("acme", `thread ${i}`))],
    ] as const) {
      const { a, ratio } = await alternate(
        10,
        () => nsPerIteration(ITERATIONS, loop),
        () => nsPerIteration(ITERATIONS, hmac),
      );
      rows.push({ what, value: a / 1_000, unit: "µs", against: "one HMAC-SHA-256", ratio, bound: null });
    }
    return rows;
  },
};
