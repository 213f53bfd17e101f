import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseExposition } from "#edge-agent/exposition.ts";
import { readDcgm } from "#edge-agent/gpu/dcgm.ts";

const MIB = 1_048_576;
type Mib = { readonly used: number; readonly free: number; readonly reserved: number };
const slice = (id: number, profile: string, { used, free, reserved }: Mib): string =>
  (
    [
      ["USED", used],
      ["FREE", free],
      ["RESERVED", reserved],
    ] as const
  )
    .map(([what, mib]) => `DCGM_FI_DEV_FB_${what}{UUID="GPU-a",GPU_I_ID="${id}",GPU_I_PROFILE="${profile}"} ${mib}\n`)
    .join("");
const gpuOf = (text: string) => {
  const { gpus, faults } = readDcgm(parseExposition(text), []);
  assert.equal(gpus.length, 1);
  return { ...gpus[0], codes: [...new Set(faults.map(({ code }) => code))] };
};

describe("a GPU in slices", () => {
  it("that tell their own memory has what they have together", () => {
    const own = slice(1, "3g.40gb", { used: 30_000, free: 10_000, reserved: 192 });
    const { memoryTotalBytes, memoryUsedBytes, memoryFreeBytes, codes } = gpuOf(
      own + slice(2, "1g.10gb+me", { used: 100, free: 9_700, reserved: 56 }),
    );
    assert.deepEqual(
      [memoryTotalBytes, memoryUsedBytes, memoryFreeBytes, codes],
      [50_048 * MIB, 30_100 * MIB, 19_700 * MIB, []],
    );
  });
  it("that repeat the whole GPU's memory has it once", () => {
    const whole = { used: 60_000, free: 21_000, reserved: 559 };
    const { memoryTotalBytes, memoryUsedBytes } = gpuOf(slice(1, "3g.40gb", whole) + slice(2, "1g.10gb", whole));
    assert.deepEqual([memoryTotalBytes, memoryUsedBytes], [81_559 * MIB, 60_000 * MIB]);
  });
  it("that say one thing and another is unknown", () => {
    const own = slice(1, "3g.40gb", { used: 30_000, free: 10_000, reserved: 192 });
    const { memoryUsedBytes, codes } = gpuOf(own + slice(2, "1g.10gb", { used: 60_000, free: 21_000, reserved: 559 }));
    assert.deepEqual([memoryUsedBytes, codes], [null, ["mig-memory-unknown"]]);
  });
  it("that say less than they have is unknown: half of a page would look so", () => {
    const { codes } = gpuOf(slice(1, "3g.40gb", { used: 5, free: 5, reserved: 5 }));
    assert.deepEqual(codes, ["mig-memory-unknown"]);
  });
  it("of no known profile is unknown", () => {
    const { codes } = gpuOf(slice(1, "", { used: 30_000, free: 10_000, reserved: 192 }));
    assert.deepEqual(codes, ["mig-memory-unknown"]);
  });
  it("with a slice that is blank is unknown", () => {
    const own = slice(1, "3g.40gb", { used: 30_000, free: 10_000, reserved: 192 });
    const { memoryUsedBytes } = gpuOf(own + slice(2, "1g.10gb", { used: 2 ** 63, free: 1, reserved: 1 }));
    assert.equal(memoryUsedBytes, null);
  });
});
