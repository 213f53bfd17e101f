import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseExposition } from "#edge-agent/exposition.ts";
import { isAmd, readAmd } from "#edge-agent/gpu/amd.ts";
import { enginePayload } from "#test/support/vllm-page.ts";

const PAGE = enginePayload("amd-device-metrics-exporter.prom");
const read = (text: string, uuids: readonly string[] = []) => readAmd(parseExposition(text), uuids);
const sum = (values: readonly (number | null)[]): number =>
  values.reduce<number>((all, value) => all + (value ?? 0), 0);
const series = (name: string, labels: string, mib: number): string => `gpu_${name}_vram{${labels}} ${mib}\n`;
const whole = (labels: string, mib: number): string =>
  series("total", labels, mib) + series("used", labels, mib / 4) + series("free", labels, (3 * mib) / 4);

describe("a page of AMD's exporter", () => {
  for (const [prefix, text] of [
    ["", PAGE],
    ["amd_", PAGE.replaceAll(/^gpu_/gm, "amd_gpu_")],
  ] as const) {
    it(`yields used memory of 178 670 010 368 and total memory of 412 283 305 984 bytes with names that begin "${prefix}gpu"`, () => {
      const { gpus, faults } = read(text);
      assert.equal(sum(gpus.map(({ memoryUsedBytes }) => memoryUsedBytes)), 178_670_010_368);
      assert.equal(sum(gpus.map(({ memoryTotalBytes }) => memoryTotalBytes)), 412_283_305_984);
      assert.deepEqual([gpus.map(({ uuid }) => uuid), faults], [["6922510010", "6922510011"], []]);
    });
  }
  it("is one, and a page of others is none", () => {
    assert.equal(isAmd(parseExposition(PAGE)), true);
    assert.equal(isAmd(parseExposition(enginePayload("dcgm-exporter.prom"))), false);
  });
  it("is narrowed to the GPUs that serve", () => {
    assert.deepEqual(
      read(PAGE, ["6922510011"]).gpus.map(({ memoryUsedBytes }) => memoryUsedBytes),
      [283 * 1_048_576],
    );
  });
  it("has partitions with memory of their own together", () => {
    const part = (id: number) =>
      `gpu_id="0",serial_number="1",gpu_partition_id="${id}",gpu_memory_partition_type="nps4"`;
    const { gpus } = read([0, 1, 2, 3].map((id) => whole(part(id), 1_000)).join(""));
    assert.deepEqual(
      gpus.map(({ memoryTotalBytes }) => memoryTotalBytes),
      [4_000 * 1_048_576],
    );
  });
  it("has partitions that share the memory once", () => {
    const part = (id: number) =>
      `gpu_id="0",serial_number="1",gpu_partition_id="${id}",gpu_memory_partition_type="nps1"`;
    const { gpus } = read([0, 1].map((id) => whole(part(id), 1_000)).join(""));
    assert.deepEqual(
      gpus.map(({ memoryTotalBytes }) => memoryTotalBytes),
      [1_000 * 1_048_576],
    );
  });
  it("names GPUs without a serial number by their index", () => {
    const { gpus } = read(whole('gpu_id="0",serial_number=""', 10) + whole('gpu_id="1",serial_number=""', 10));
    assert.deepEqual(
      gpus.map(({ uuid }) => uuid),
      ["GPU-0", "GPU-1"],
    );
  });
  for (const [value, code] of [
    ["NaN", "not-finite"],
    ["-1", "out-of-range"],
    ["18446744073709551615", "blank"],
  ] as const) {
    it(`with used memory of ${value} says ${code}`, () => {
      const { gpus, faults } = read(`gpu_used_vram{serial_number="1"} ${value}\n`);
      assert.equal(gpus[0]?.memoryUsedBytes, null);
      assert.ok(faults.some((fault) => fault.field === "1 memoryUsedBytes" && fault.code === code));
    });
  }
  it("without a configured GPU has it unknown and told", () => {
    const { gpus, faults } = read(PAGE, ["x"]);
    assert.deepEqual(gpus, [{ uuid: "x", memoryTotalBytes: null, memoryUsedBytes: null, memoryFreeBytes: null }]);
    assert.deepEqual(faults[0], { field: "x memoryTotalBytes", code: "missing" });
  });
});
