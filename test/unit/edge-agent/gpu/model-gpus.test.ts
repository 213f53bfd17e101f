import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseExposition } from "#edge-agent/exposition.ts";
import { gpuUsersOn } from "#edge-agent/gpu/gpu-users.ts";
import { type GpuClaim, modelGpus, NO_CLAIM, sharers } from "#edge-agent/gpu/model-gpus.ts";

const GIB = 1_073_741_824;
const gpu = (uuid: string, usedGib: number | null) => ({
  uuid,
  memoryTotalBytes: 80 * GIB,
  memoryUsedBytes: usedGib === null ? null : usedGib * GIB,
  memoryFreeBytes: usedGib === null ? null : (80 - usedGib) * GIB,
});
const GPUS = [gpu("GPU-a", 70), gpu("GPU-b", 71), gpu("GPU-c", 60), gpu("GPU-d", null)];
const users = gpuUsersOn(
  parseExposition(
    [
      'DCGM_FI_DEV_FB_USED{UUID="GPU-a",pod="llama-0",container="vllm"} 1',
      'DCGM_FI_DEV_FB_USED{UUID="GPU-b",pod_name="llama-1",container="vllm"} 1',
      'DCGM_FI_DEV_FB_USED{UUID="GPU-c",exported_pod="qwen-7f9-x2"} 1',
      'DCGM_FI_DEV_FB_USED{UUID="GPU-d"} 1',
      "",
    ].join("\n"),
  ),
);
const of = (addresses: readonly string[], claims: Readonly<Record<string, Partial<GpuClaim>>> = {}, isAlone = false) =>
  modelGpus(
    addresses,
    { gpus: GPUS, users },
    new Map(Object.entries(claims).map(([address, claim]) => [address, { ...NO_CLAIM, ...claim }])),
    isAlone,
  );

describe("the GPUs of one model among several", () => {
  it("are those that are configured for its engines, with their memory together", () => {
    assert.deepEqual(of(["10.0.0.5:8000"], { "10.0.0.5:8000": { uuids: ["GPU-a", "GPU-b"] } }), {
      uuids: ["GPU-a", "GPU-b"],
      count: 2,
      memoryTotalBytes: 160 * GIB,
      memoryUsedBytes: 141 * GIB,
      memoryFreeBytes: 19 * GIB,
    });
  });
  it("are those whose pods begin as configured, in every spelling of the label", () => {
    const pods = { "10.0.0.5:8000": { pods: ["llama-"] }, "10.0.0.6:8000": { pods: ["qwen-"] } };
    assert.deepEqual(of(["10.0.0.5:8000"], pods).uuids, ["GPU-a", "GPU-b"]);
    assert.deepEqual(of(["10.0.0.6:8000"], pods).uuids, ["GPU-c"]);
  });
  it("are those of the pod that the engine's host is called after", () => {
    assert.deepEqual(of(["llama-0.llama.llm.svc:8000", "llama-1.llama.llm.svc:8000"]).uuids, ["GPU-a", "GPU-b"]);
  });
  it("are not known where nothing says them of one of its engines", () => {
    const { uuids, count, memoryTotalBytes } = of(["llama-0.llama:8000", "10.0.0.7:8000"]);
    assert.deepEqual([uuids, count, memoryTotalBytes], [null, null, null]);
  });
  it("have no memory in use together where one does not say it", () => {
    const { memoryUsedBytes, memoryTotalBytes } = of(["h:1"], { "h:1": { uuids: ["GPU-c", "GPU-d"] } });
    assert.deepEqual([memoryUsedBytes, memoryTotalBytes], [null, 160 * GIB]);
  });
  it("that no exporter tells of are named, and nothing is known of them", () => {
    const { uuids, memoryTotalBytes } = of(["h:1"], { "h:1": { uuids: ["GPU-z"] } });
    assert.deepEqual([uuids, memoryTotalBytes], [["GPU-z"], null]);
  });
});

describe("the GPUs of a model that is alone", () => {
  it("are all of the region's", () => assert.equal(of(["10.0.0.5:8000"], {}, true).count, 4));
});

describe("models on the same GPU", () => {
  it("are named, each of them", () => {
    const [a, b] = [
      of(["h:1"], { "h:1": { uuids: ["GPU-a"] } }),
      of(["h:2"], { "h:2": { uuids: ["GPU-a", "GPU-b"] } }),
    ];
    const c = of(["h:3"], { "h:3": { uuids: ["GPU-c"] } });
    assert.deepEqual(
      sharers(
        new Map([
          ["a", a],
          ["b", b],
          ["c", c],
        ]),
      ),
      ["a", "b"],
    );
  });
});
