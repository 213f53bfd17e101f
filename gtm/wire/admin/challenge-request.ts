/** What a challenge request may say, and what is told of one that could not be granted. */
import { z } from "@hono/zod-openapi";
import { AcmeValue } from "#shared/acme-record.ts";
import { duration } from "#shared/units.ts";
import type { AcmePort } from "./acme-port.ts";
import type { Actor } from "./auth.ts";
import { refuse } from "./problem.ts";

const LABEL = "_acme-challenge.";
/** Long enough for an authority to look, from several places; certificates are renewed without hurry. */
export const DEFAULT_FOR_MS = 600_000;
const LONGEST_FOR_MS = 3_600_000;

/** Case and the trailing dot do not matter. */
export const ChallengeName = z
  .string()
  .max(255)
  .transform((name) => name.toLowerCase().replace(/\.$/, ""))
  .refine((name) => name.startsWith(LABEL), `must begin with ${LABEL}`)
  .openapi({ type: "string", example: "_acme-challenge.c.llm.example.com" });
// The pipes are made here because only schemas made after @hono/zod-openapi was loaded can be described.
export const ChallengeValue = z.string().pipe(AcmeValue).openapi({ type: "string", maxLength: 255 });
export const ChallengeLasting = z
  .string({ error: "must be a duration with its unit, such as 10m" })
  .pipe(duration)
  .refine((ms) => ms >= 1_000 && ms <= LONGEST_FOR_MS, "must be from 1s to 1h")
  .openapi({ type: "string", example: "10m" });

/** @throws {ProblemError} 403 where the token is for other names */
export const mustBeAllowed = ({ name: actor, names }: Actor, name: string): void => {
  if (names === null || names.includes(name.slice(LABEL.length))) return;
  throw refuse("forbidden", `${actor} may answer challenges of ${names.join(", ")} only, not ${name}.`);
};

/** @throws {ProblemError} 404 */
export const notOurs = (name: string) =>
  refuse(
    "not-found",
    `No challenge can be answered at ${name}: it takes ${LABEL} and a name that the zone has, that is not given to other servers, and without records of its own there.`,
  );

/** @throws {ProblemError} 404, 409; {OperationalError} the store would not, or is away */
export const present = async (
  port: AcmePort,
  {
    isDryRun,
    ...wish
  }: { readonly name: string; readonly value: string; readonly forMs: number; readonly isDryRun: boolean },
  actor: Actor,
): Promise<void> => {
  mustBeAllowed(actor, wish.name);
  const outcome = await port.present({ ...wish, actor: actor.name }, isDryRun);
  if (outcome.kind === "not-ours") throw notOurs(wish.name);
  if (outcome.kind === "full") {
    const what = outcome.of === "name" ? `${wish.name} has` : "There are";
    throw refuse(
      "too-many-challenges",
      `${what} as many values as there may be. Clean some up, or wait until they expire.`,
    );
  }
};
