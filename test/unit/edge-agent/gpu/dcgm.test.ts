import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseExposition } from "#edge-agent/exposition.ts";
import { isDcgm, readDcgm } from "#edge-agent/gpu/dcgm.ts";
import { enginePayload } from "#test/support/vllm-page.ts";

const MIB = 1_048_576;
const read = (text: string, uuids: readonly string[] = []) => readDcgm(parseExposition(text), uuids);
const gpu = (uuid: string, used: number | string, more = ""): string =>
  ["USED", "FREE", "RESERVED"]
    .map((what) => `DCGM_FI_DEV_FB_${what}{UUID="${uuid}"${more}} ${what === "USED" ? used : 100}\n`)
    .join("");

describe("a page of dcgm-exporter", () => {
  const { gpus, faults } = read(enginePayload("dcgm-exporter.prom"));
  const sum = (values: readonly (number | null)[]): number =>
    values.reduce<number>((all, value) => all + (value ?? 0), 0);
  it("yields used memory of 158 034 034 688 and total memory of 342 083 239 936 bytes", () => {
    assert.equal(gpus.length, 4);
    assert.equal(sum(gpus.map(({ memoryUsedBytes }) => memoryUsedBytes)), 158_034_034_688);
    assert.equal(sum(gpus.map(({ memoryTotalBytes }) => memoryTotalBytes)), 342_083_239_936);
    assert.deepEqual(faults, []);
  });
  it("is one", () => {
    assert.equal(isDcgm(parseExposition(enginePayload("dcgm-exporter.prom"))), true);
    assert.equal(isDcgm(parseExposition(enginePayload("vllm-v1-cold.prom"))), false);
  });
  it("of a whole host is narrowed to the GPUs that serve", () => {
    const uuid = "GPU-00000002-aaaa-bbbb-cccc-000000000000";
    const own = read(enginePayload("dcgm-exporter.prom"), [uuid]);
    assert.deepEqual(
      own.gpus.map((one) => [one.uuid, one.memoryUsedBytes]),
      [[uuid, 579 * MIB]],
    );
  });
});

describe("a GPU", () => {
  it("that is configured and absent is there, unknown and told", () => {
    const { gpus, faults } = read(gpu("GPU-a", 5), ["GPU-b"]);
    assert.deepEqual(gpus, [{ uuid: "GPU-b", memoryTotalBytes: null, memoryUsedBytes: null, memoryFreeBytes: null }]);
    assert.deepEqual(faults[0], { field: "GPU-b memoryUsedBytes", code: "missing" });
  });
  it("shared by two pods counts once", () => {
    const { gpus, faults } = read(`${gpu("GPU-a", 5, ',pod="x"')}${gpu("GPU-a", 5, ',pod="y"')}`);
    assert.deepEqual(
      gpus.map(({ memoryUsedBytes }) => memoryUsedBytes),
      [5 * MIB],
    );
    assert.deepEqual(faults, []);
  });
  it("of which two pods tell different things is unknown", () => {
    const { gpus, faults } = read(`${gpu("GPU-a", 5, ',pod="x"')}${gpu("GPU-a", 6, ',pod="y"')}`);
    assert.equal(gpus[0]?.memoryUsedBytes, null);
    assert.deepEqual(faults, [{ field: "GPU-a memoryUsedBytes", code: "contradictory" }]);
  });
  it("cut into slices is unknown: their memory may be their own or the parent's", () => {
    const slices = `${gpu("GPU-a", 5, ',GPU_I_ID="1"')}${gpu("GPU-a", 5, ',GPU_I_ID="2"')}`;
    assert.deepEqual(read(slices).gpus[0], {
      uuid: "GPU-a",
      memoryTotalBytes: null,
      memoryUsedBytes: null,
      memoryFreeBytes: null,
    });
    assert.equal(read(slices).faults[0]?.code, "mig-memory-unknown");
  });
  it("cut into slices is what its whole says, where it does", () => {
    const { gpus } = read(`${gpu("GPU-a", 50)}${gpu("GPU-a", 5, ',GPU_I_ID="1"')}`);
    assert.equal(gpus[0]?.memoryUsedBytes, 50 * MIB);
  });
  it("without reserved memory has no total: absent is not zero", () => {
    const { gpus, faults } = read(gpu("GPU-a", 5).replace(/^.*RESERVED.*\n/m, ""));
    assert.deepEqual([gpus[0]?.memoryUsedBytes, gpus[0]?.memoryTotalBytes], [5 * MIB, null]);
    assert.deepEqual(faults, [{ field: "GPU-a memoryTotalBytes", code: "missing" }]);
  });
  const unknown: readonly (readonly [value: string, code: string])[] = [
    ["9223372036854775794", "blank"],
    ["NaN", "not-finite"],
    ["+Inf", "not-finite"],
    ["-1", "out-of-range"],
  ];
  for (const [value, code] of unknown) {
    it(`whose used memory is ${value} is unknown: ${code}`, () => {
      const { gpus, faults } = read(gpu("GPU-a", value));
      assert.deepEqual([gpus[0]?.memoryUsedBytes, gpus[0]?.memoryFreeBytes], [null, 100 * MIB]);
      assert.deepEqual(faults, [{ field: "GPU-a memoryUsedBytes", code }]);
    });
  }
  it("does not exist on a page without memory, which breaks the contract", () => {
    assert.deepEqual(read("DCGM_FI_DEV_GPU_UTIL{} 1\n"), {
      gpus: [],
      faults: [{ field: "DCGM_FI_DEV_FB_USED", code: "metrics-contract-broken" }],
    });
  });
});
