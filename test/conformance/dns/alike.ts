/** Row P27: what resolvers and registries compare between the servers of a zone. */
import assert from "node:assert/strict";
import { askUdp, queryOctets } from "#test/support/dns-client.ts";
import { startDns } from "#test/support/dns-zone.ts";
import { NS, type Sequence, SOA, Z } from "./row.ts";

export const ALIKE: readonly Sequence[] = [
  {
    row: "P27",
    what: "SOA and NS are the same octet by octet, whenever they were started",
    run: async () => {
      await using one = await startDns();
      await using other = await startDns();
      other.clock.advance(3_600_000);
      for (const type of [SOA, NS]) {
        const query = queryOctets({ name: Z, type });
        assert.deepEqual((await askUdp(one, query)).octets, (await askUdp(other, query)).octets);
      }
    },
  },
];
