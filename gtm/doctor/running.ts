/** What a running GTM says of itself. Pure. */
import { z } from "zod";
import { age } from "#gtm/cli/quantity.ts";
import { counted, type Finding, ok, problem, unknown, warning } from "./finding.ts";

/** The part of `/status` that is looked at. */
export const RunningStatus = z.looseObject({
  instance: z.string(),
  version: z.string(),
  state: z.string(),
  uptimeMs: z.number(),
  degradations: z.array(z.looseObject({ what: z.string(), reason: z.string(), ageMs: z.number() })).default([]),
  orders: z.looseObject({ rev: z.number() }),
});
export type RunningStatus = z.infer<typeof RunningStatus>;

export type Running =
  | { readonly kind: "answered"; readonly server: string; readonly status: RunningStatus }
  | { readonly kind: "failed"; readonly server: string; readonly why: string };

export type RunningInputs = {
  readonly running: Running;
  /** Whether somebody named the GTM to look at: then it has to answer. */
  readonly isAskedFor: boolean;
  /** As the configuration calls it. */
  readonly instance: string;
};

const REMEDIES: Readonly<Record<string, string>> = {
  store: "See what is said of the store here.",
  reports: "See what is said of the agents here.",
  orders: "See what is said of the store here; `gtm status` shows when orders can be given again.",
  pins: "See what is said of the store here; pins wait in the GTM's memory and are written later.",
  sent: "See what is said of the store here; the GTMs count each other's turns again when it answers.",
  decisions: "See what is said of the store here; decisions are kept in the GTM's memory.",
  regions: "`gtm regions` says why each is not healthy.",
  ages: "Look at the network between the regions and the store.",
  world: "See what is said of the world file here.",
  keys: "See what is said of the keys here.",
  instances: "See what is said of the instances here.",
};

export const runningFindings = ({ running, isAskedFor, instance }: RunningInputs): readonly Finding[] => {
  if (running.kind === "failed") {
    const what = `The GTM at ${running.server} could not be asked: ${running.why}.`;
    return isAskedFor
      ? [problem("gtm-away", what, "Start it, or name another address in --server and its token in GTM_TOKEN.")]
      : [unknown("gtm-away", what, "--server names another address, GTM_TOKEN holds a token for it.")];
  }
  const { status, server } = running;
  const name = `${status.instance} at ${server}`;
  return [
    status.state === "not-ready"
      ? problem("gtm-not-ready", `${name} is not ready.`, "Wait until it has started, or read its log.")
      : ok(
          "gtm-ready",
          `${name}, llm-gtm ${status.version}, is ${status.state} and up ${age(status.uptimeMs)}; ${counted(status.degradations.length, "part")} degraded.`,
        ),
    ...(status.instance === instance
      ? []
      : [
          warning(
            "gtm-other-instance",
            `The GTM at ${server} is ${status.instance}, and this configuration is of ${instance}.`,
            "Name the configuration that it runs with, or another --server.",
          ),
        ]),
    ...status.degradations.map(({ what, reason, ageMs }) =>
      warning("gtm-degraded", `${what}, for ${age(ageMs)}: ${reason}.`, REMEDIES[what] ?? "`gtm status` says more."),
    ),
  ];
};
