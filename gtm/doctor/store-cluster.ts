/** Whether every slot of a Cluster has a primary that answers. Pure. */
import { count } from "#gtm/cli/quantity.ts";
import { ALL_SLOTS } from "#shared/store-redis-facts-cluster.ts";
import { counted, type Finding, listed, ok, problem, unknown } from "./finding.ts";
import type { RedisFacts } from "./store-reach.ts";

export const clusterFindings = ({ cluster, servers }: RedisFacts): readonly Finding[] => {
  if (cluster === null || servers.length === 0) return [];
  const { assignedSlots, state, why } = cluster;
  const gone = servers.filter(({ away }) => away !== null);
  const goneSlots = gone.reduce((sum, { slots }) => sum + (slots ?? 0), 0);
  const unassigned = ALL_SLOTS - (assignedSlots ?? ALL_SLOTS);
  const lost = unassigned + goneSlots;
  const findings: Finding[] = [];
  if (lost > 0) {
    const whose = gone.length === 0 ? "nobody has them" : `${listed(gone.map(({ place }) => place))} does not answer`;
    findings.push(
      problem(
        "cluster-slots-lost",
        `${count(lost)} of ${count(ALL_SLOTS)} slots are lost, and with them that part of pins and reports: ${whose}.`,
        unassigned > 0
          ? "`redis-cli --cluster fix HOST:PORT`, or give the slots away with `cluster addslotsrange`."
          : "Start the primary, or let a replica of it take over: `redis-cli cluster failover force` on the replica.",
      ),
    );
  } else {
    findings.push(
      ok(
        "cluster-slots",
        `All ${count(ALL_SLOTS)} slots have a primary that answers; ${counted(servers.length, "primary").replace(/ys$/, "ies")}.`,
      ),
    );
  }
  if (state !== null && state !== "ok") {
    findings.push(
      problem(
        "cluster-down",
        `The Cluster says that its state is ${state}.`,
        "`redis-cli cluster info` says which slots fail; `cluster-require-full-coverage no` lets the others work.",
      ),
    );
  }
  if (state === null) {
    findings.push(unknown("cluster-state", `What the Cluster says of its state is not known: ${why ?? "no answer"}.`));
  }
  return findings;
};
