/** What somebody is told of a text that he sent himself: its variables are this process's, and their values are not for him. */
import type { ConfigCandidate } from "#gtm/wire/admin/configuration-port.ts";
import type { Candidate, Env } from "./candidate.ts";

/** Shorter ones are in every other word. */
const SHORTEST = 3;

/** Changes are in the words of the text already; a fault may quote what a variable gave. */
export const withoutValues = (candidate: Candidate, text: string, env: Env): ConfigCandidate => {
  if (candidate.kind === "sound")
    return { kind: "sound", plan: { ...candidate.plan, warnings: candidate.plan.warnings.map(hidden(text, env)) } };
  const hide = hidden(text, env);
  return { kind: "faulty", faults: candidate.faults.map((fault) => ({ ...fault, message: hide(fault.message) })) };
};

const hidden = (text: string, env: Env): ((message: string) => string) => {
  const names = new Set([...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)/g)].map(([, name = ""]) => name));
  const values = [...names].flatMap((name) => {
    const value = env[name];
    return value === undefined || value.length < SHORTEST ? [] : [[value, `\${${name}}`] as const];
  });
  return (message) => values.reduce((told, [value, reference]) => told.replaceAll(value, reference), message);
};
