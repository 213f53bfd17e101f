/** INFO as servers of several versions reply it, and as none should. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { infoFactsIn } from "#shared/store-redis-facts-info.ts";

const PRIMARY = [
  "# Server",
  "redis_version:6.2.14",
  "# Memory",
  "used_memory:1048576",
  "total_system_memory:8000000000",
  "maxmemory:2097152",
  "maxmemory_policy:volatile-lru",
  "# Persistence",
  "rdb_last_bgsave_status:err",
  "aof_enabled:1",
  "aof_last_write_status:ok",
  "# Stats",
  "rejected_connections:3",
  "evicted_keys:12",
  "# Replication",
  "role:master",
  "connected_slaves:2",
  "slave0:ip=192.0.2.7,port=6379,state=online,offset=12,lag=1",
  "slave1:ip=192.0.2.8,port=6380,state=wait_bgsave,offset=0",
  "# Cluster",
  "cluster_enabled:0",
].join("\r\n");

describe("the facts in INFO", () => {
  const facts = infoFactsIn(PRIMARY);

  it("are the version and what kind of server it is", () => {
    assert.deepEqual([facts.version, facts.isClusterNode, facts.rejectedConnections], ["6.2.14", false, 3]);
  });
  it("are what memory it may use, and whom it drops", () => {
    assert.deepEqual(facts.memory, {
      maxBytes: 2_097_152,
      policy: "volatile-lru",
      usedBytes: 1_048_576,
      machineBytes: 8_000_000_000,
      evictedKeys: 12,
    });
  });
  it("are what it keeps on disk; whether it makes snapshots only where it has made one", () => {
    assert.deepEqual(facts.persistence, {
      savesSnapshots: null,
      isLastSnapshotGood: false,
      writesLog: true,
      isLastLogWriteGood: true,
    });
    assert.equal(infoFactsIn(`${PRIMARY}\r\nrdb_saves:2`).persistence?.savesSnapshots, true);
  });
  it("are its replicas, and how far behind each is", () => {
    assert.deepEqual(facts.replication?.replicas, [
      { place: "192.0.2.7:6379", state: "online", lagSeconds: 1 },
      { place: "192.0.2.8:6380", state: "wait_bgsave", lagSeconds: null },
    ]);
  });
  it("of a replica are whether it hears its primary", () => {
    const { replication } = infoFactsIn("role:slave\r\nmaster_link_status:down");
    assert.deepEqual([replication?.role, replication?.isLinkUp], ["replica", false]);
  });
  for (const text of ["", "# Server", "nonsense", "maxmemory:none\r\nused_memory:\r\nrole:sentinel", ":\r\n::\r\n"]) {
    it(`in ${JSON.stringify(text)} are unknown, and not 0`, () => {
      const { version, memory, persistence, replication, rejectedConnections } = infoFactsIn(text);
      assert.deepEqual(
        [version, memory, persistence, replication, rejectedConnections],
        [null, null, null, null, null],
      );
    });
  }
});
