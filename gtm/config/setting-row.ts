/** What is said of one key of the configuration, beside its form: what it means, and when a change of it takes effect. */

/** `live`: a changed file takes effect at once. `restart`: what a process cannot change; the file's word waits for the next start. */
export type Effect = "live" | "restart";

/** `at`: keys with dots between them, `[]` for each item of a list. `says`: one or two sentences, with units. */
export type SettingRow = readonly [at: string, effect: Effect, says: string];
