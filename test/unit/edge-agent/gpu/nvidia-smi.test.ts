import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isNvidiaSmi, readNvidiaSmi } from "#edge-agent/gpu/nvidia-smi.ts";
import { enginePayload } from "#test/support/vllm-page.ts";

const MIB = 1_048_576;
const FIRST = "GPU-00000000-aaaa-bbbb-cccc-000000000000";
const THIRD = "GPU-00000002-aaaa-bbbb-cccc-000000000000";
const first = {
  uuid: FIRST,
  memoryTotalBytes: 81_559 * MIB,
  memoryUsedBytes: 75_067 * MIB,
  memoryFreeBytes: 6_012 * MIB,
};

describe("what nvidia-smi prints", () => {
  for (const file of ["nvidia-smi-query.csv", "nvidia-smi-query-nounits.csv"]) {
    it(`is read with and without header and units: ${file}`, () => {
      assert.deepEqual(readNvidiaSmi(enginePayload(file), []).gpus[0], first);
      assert.equal(isNvidiaSmi(enginePayload(file)), true);
    });
  }
  it("with columns in another order is read by its header", () => {
    const text = `uuid, memory.free [MiB], memory.used [MiB], memory.total [MiB]\n${FIRST}, 6012 MiB, 75067 MiB, 81559 MiB\n`;
    assert.deepEqual(readNvidiaSmi(text, []), { gpus: [first], faults: [] });
  });
  it("without memory, as unified-memory parts have it, is unknown and told", () => {
    const { gpus, faults } = readNvidiaSmi(enginePayload("nvidia-smi-query-nounits.csv"), []);
    assert.deepEqual(gpus[2], { uuid: THIRD, memoryTotalBytes: null, memoryUsedBytes: null, memoryFreeBytes: null });
    assert.deepEqual(faults, [
      { field: `${THIRD} memoryTotalBytes`, code: "not-available" },
      { field: `${THIRD} memoryUsedBytes`, code: "not-available" },
      { field: `${THIRD} memoryFreeBytes`, code: "not-available" },
    ]);
  });
  it("is narrowed to the GPUs that serve", () => {
    const { gpus, faults } = readNvidiaSmi(enginePayload("nvidia-smi-query.csv"), [FIRST]);
    assert.deepEqual([gpus, faults], [[first], []]);
  });
  it("without a configured GPU has it unknown and told", () => {
    const { gpus, faults } = readNvidiaSmi(enginePayload("nvidia-smi-query.csv"), ["GPU-x"]);
    assert.deepEqual(gpus, [{ uuid: "GPU-x", memoryTotalBytes: null, memoryUsedBytes: null, memoryFreeBytes: null }]);
    assert.deepEqual(faults, [{ field: "GPU-x", code: "missing" }]);
  });
  it("may be that no devices were found", () => {
    assert.deepEqual(readNvidiaSmi("No devices were found\n", []), {
      gpus: [],
      faults: [{ field: "gpus", code: "no-devices" }],
    });
  });
  for (const text of ["", "garbage\n", "NVIDIA-SMI has failed because it couldn't communicate with the driver.\n"]) {
    it(`may be nothing that can be read: ${JSON.stringify(text)}`, () => {
      const { gpus, faults } = readNvidiaSmi(text, []);
      assert.deepEqual(gpus, []);
      assert.ok(faults.some(({ code }) => code === "missing"));
      assert.equal(isNvidiaSmi(text), false);
    });
  }
  for (const cell of [
    "[Unknown Error]",
    "[Not Supported]",
    "[GPU is lost]",
    "N/A",
    "ERR!",
    "12 GiB",
    "-5",
    "",
    "99999999999999999999",
  ]) {
    it(`has no memory in ${JSON.stringify(cell)}`, () => {
      const { gpus, faults } = readNvidiaSmi(`0, ${FIRST}, X, ${cell}, 1, 2, 3, 4, Disabled\n`, []);
      assert.deepEqual([gpus[0]?.memoryTotalBytes, gpus[0]?.memoryUsedBytes], [null, 2 * MIB]);
      assert.equal(faults.length, 1);
    });
  }
});
