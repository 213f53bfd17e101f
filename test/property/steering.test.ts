/** Laws of the decision that hold for every world, turn and policy. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Candidate, Considered, Decision } from "#gtm/domain/decision.ts";
import { regionOf } from "#gtm/domain/decision.ts";
import { decide } from "#gtm/steering/decide.ts";
import { explain } from "#gtm/steering/explain.ts";
import { flipOf } from "#gtm/steering/flip.ts";
import { DEFAULT_POLICY, type Policy } from "#gtm/steering/policy.ts";
import { situation } from "#test/support/arbitraries.ts";
import { aPlacement, aRegion, decideIn, MODEL, type Situation } from "#test/support/builders.ts";

const runs = { numRuns: Number(process.env["PROPERTY_RUNS"] ?? 2_000) };
const policyOf = (one: Situation): Policy => ({ ...DEFAULT_POLICY, ...one.policy });
const candidatesOf = (decision: Decision): Candidate[] =>
  decision.considered.filter((one): one is Candidate => one.kind === "candidate");
const byRegion = (considered: readonly Considered[]): Considered[] =>
  considered.toSorted((a, b) => (a.region < b.region ? -1 : 1));

describe("the decision, for every world, turn and policy", () => {
  it("does not depend on the order of the regions", () => {
    fc.assert(
      fc.property(situation, (one) => {
        const forth = decideIn(one);
        const back = decideIn({
          ...one,
          regions: one.regions.toReversed(),
          pool: { ...one.pool, regions: one.regions.map((region) => region.id) },
        });
        assert.deepEqual(back.verdict, forth.verdict);
        assert.deepEqual(byRegion(back.considered), byRegion(forth.considered));
      }),
      runs,
    );
  });

  it("is the same for the same state", () => {
    fc.assert(
      fc.property(situation, (one) => assert.deepEqual(decideIn(one), decideIn(one))),
      runs,
    );
  });

  it("migrates if and only if the law of moving holds on the recorded numbers", () => {
    fc.assert(
      fc.property(situation, (one) => {
        const decision = decideIn(one);
        const policy = policyOf(one);
        const home = candidatesOf(decision).find((candidate) => candidate.region === decision.turn.home);
        const lawHolds =
          home !== undefined &&
          candidatesOf(decision).some((other) => {
            const saved =
              home.cost.totalMs - other.cost.totalMs + policy.laterTurns * (home.plan.rttMs - other.plan.rttMs);
            return (
              other.region !== home.region &&
              home.isTrusted &&
              other.isTrusted &&
              other.cost.totalMs <= home.cost.totalMs &&
              saved >= Math.max(policy.marginMs, policy.marginFraction * home.cost.totalMs)
            );
          });
        assert.equal(decision.verdict.kind === "migrated", lawHolds);
      }),
      runs,
    );
  });

  it("is never dearer than staying", () => {
    fc.assert(
      fc.property(situation, (one) => {
        const decision = decideIn(one);
        const home = candidatesOf(decision).find((candidate) => candidate.region === decision.turn.home);
        const chosen = candidatesOf(decision).find((candidate) => candidate.region === regionOf(decision.verdict));
        if (home === undefined || chosen === undefined) return;
        assert.ok(chosen.cost.totalMs <= home.cost.totalMs);
      }),
      runs,
    );
  });

  it("is not changed by a region that is excluded", () => {
    fc.assert(
      fc.property(situation, (one) => {
        const bystander = aRegion("bystander", { admin: "down", reportAgeMs: null, placement: null });
        const regions = one.regions.map((region) => region.id);
        const without = decideIn(one);
        const beside = decideIn({
          ...one,
          regions: [bystander, ...one.regions],
          pool: { ...one.pool, regions: [...regions, bystander.id] },
        });
        assert.deepEqual(beside.verdict, without.verdict);
      }),
      runs,
    );
  });

  it("names only finite numbers, each cost 0 or more, and its parts add up", () => {
    fc.assert(
      fc.property(situation, (one) => {
        for (const { cost, plan } of candidatesOf(decideIn(one))) {
          for (const [part, value] of Object.entries({ ...cost, workMs: plan.workMs, heldTokens: plan.heldTokens })) {
            assert.ok(Number.isFinite(value) && value >= 0, `${part} is ${value}`);
          }
          const ttft = cost.networkMs + cost.queueMs + cost.prefillMs + cost.migrationMs + cost.coldStartMs;
          assert.ok(Math.abs(ttft - cost.predictedTtftMs) <= 1e-6 * Math.max(1, ttft));
          const total = ttft + cost.memoryMs + cost.decodeMs + cost.moneyMs + cost.stalenessMs;
          assert.ok(Math.abs(total - cost.totalMs) <= 1e-6 * Math.max(1, total));
        }
      }),
      runs,
    );
  });

  it("never sends to a region that may not serve while one may", () => {
    fc.assert(
      fc.property(situation, (one) => {
        const decision = decideIn(one);
        const candidates = candidatesOf(decision).map((candidate) => candidate.region);
        const region = regionOf(decision.verdict);
        if (candidates.length > 0) assert.ok(region !== null && candidates.includes(region));
      }),
      runs,
    );
  });

  it("was tried on every kind of verdict", () => {
    const counts = new Map<string, number>();
    for (const one of fc.sample(situation, runs.numRuns)) {
      const { kind } = decideIn(one).verdict;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    for (const kind of ["pinned", "placed", "migrated", "displaced", "unserved"]) {
      assert.ok((counts.get(kind) ?? 0) > runs.numRuns / 50, `${kind}: ${counts.get(kind)} of ${runs.numRuns}`);
    }
  });

  it("can be told in English", () => {
    fc.assert(
      fc.property(situation, (one) => {
        const { explanation, flipsIf } = explain(decideIn(one), policyOf(one));
        assert.match(explanation, /^[A-Z].*\.$/);
        assert.doesNotMatch(`${explanation} ${flipsIf}`, /NaN|Infinity|undefined/);
      }),
      runs,
    );
  });
});

describe("what is said to flip a decision", () => {
  /** The same considered regions, one queue longer or shorter. */
  const withQueue = (considered: readonly Considered[], region: string, byMs: number): Considered[] =>
    considered.map((one) =>
      one.kind === "candidate" && one.region === region
        ? {
            ...one,
            cost: {
              ...one.cost,
              queueMs: one.cost.queueMs + byMs,
              predictedTtftMs: one.cost.predictedTtftMs + byMs,
              totalMs: one.cost.totalMs + byMs,
            },
          }
        : one,
    );

  it("does flip it, and a little less does not", () => {
    let flips = 0;
    fc.assert(
      fc.property(situation, (one) => {
        const policy = policyOf(one);
        const decision = decideIn(one);
        const flip = flipOf(decision, policy);
        if (flip?.kind !== "queue" || Math.abs(flip.byMs) > 1e8) return;
        flips += 1;
        const chosen = regionOf(decision.verdict);
        const after = (extraMs: number) =>
          regionOf(
            decide(withQueue(decision.considered, flip.region, flip.byMs + extraMs), decision.turn, policy).verdict,
          );
        const away = Math.sign(flip.byMs) || 1;
        // A millionth of the sums involved: beyond the rounding of doubles, far below a millisecond.
        const slackMs = 1e-6 * Math.max(1, ...candidatesOf(decision).map((candidate) => candidate.cost.totalMs));
        assert.notEqual(after(away * slackMs), chosen, "the change flips the verdict");
        assert.equal(after(-away * slackMs), chosen, "a little less does not");
      }),
      runs,
    );
    assert.ok(flips > runs.numRuns / 20, `only ${flips} decisions had a flip to try`);
  });

  it("is the least: no region's queue alone has to change by less", () => {
    fc.assert(
      fc.property(
        situation,
        fc.nat({ max: 3 }),
        fc.double({ min: -0.999, max: 0.999, noNaN: true }),
        (one, at, share) => {
          const policy = policyOf(one);
          const decision = decideIn(one);
          const flip = flipOf(decision, policy);
          const candidates = candidatesOf(decision);
          const region = candidates[at % Math.max(1, candidates.length)];
          if (flip?.kind !== "queue" || region === undefined || Math.abs(flip.byMs) > 1e8) return;
          const byMs = Math.max(-region.cost.queueMs, share * Math.abs(flip.byMs));
          const { verdict } = decide(withQueue(decision.considered, region.region, byMs), decision.turn, policy);
          assert.equal(regionOf(verdict), regionOf(decision.verdict));
        },
      ),
      runs,
    );
  });

  it("is what lets the region serve again, where the home cannot", () => {
    let returns = 0;
    fc.assert(
      fc.property(situation, (one) => {
        const decision = decideIn(one);
        const flip = flipOf(decision, policyOf(one));
        if (flip?.kind !== "returns") return;
        returns += 1;
        const placement = aPlacement(flip.region, { contextLimitTokens: null });
        const donor = { ...aRegion(flip.region), placements: new Map([[MODEL, placement]]) };
        const regions = one.regions.map((region) => (region.id === flip.region ? donor : region));
        const conversation = one.conversation == null ? null : { ...one.conversation, refusedBy: [] };
        const { verdict } = decideIn({ ...one, regions, conversation, pool: { ...one.pool, jurisdictions: null } });
        assert.notEqual(verdict.kind, decision.verdict.kind);
      }),
      runs,
    );
    assert.ok(returns > runs.numRuns / 50, `only ${returns} decisions said that a region should return`);
  });
});
