/** What the GTMs on one store tell each other, heard for a few seconds: what stays different is no matter of timing. */
import { InstanceId } from "#shared/ids.ts";
import { instancesKey, sentKey } from "#shared/keys.ts";
import { SentRecord } from "#shared/records.ts";
import type { Store } from "#shared/store.ts";

export type InstanceFact = {
  readonly id: string;
  /** Epoch ms of when it was last listed, by its own clock. */
  readonly listedAtMs: number;
  /** What it said each time it was asked, in order; null: nothing. */
  readonly said: readonly (SentRecord | null)[];
  /** Why a record of it is none; null: each was. */
  readonly refused: string | null;
};

export type InstanceFacts =
  | { readonly kind: "heard"; readonly instances: readonly InstanceFact[] }
  | { readonly kind: "unknown"; readonly why: string };

export type Listening = {
  /** How often each is asked; at least 1. */
  readonly times: number;
  readonly pause: () => Promise<void>;
};

/** More than anybody runs. */
const MOST_INSTANCES = 128;

/** Never rejects because the store is away. */
export const readInstanceFacts = async (store: Store, { times, pause }: Listening): Promise<InstanceFacts> => {
  try {
    const index = await store.indexTop(instancesKey(), Number.MAX_SAFE_INTEGER, MOST_INSTANCES);
    const ids = index.map(({ member }) => InstanceId.safeParse(member).data).filter((id) => id !== undefined);
    const rounds: (readonly Heard[])[] = [];
    for (let at = 0; at < times; at += 1) {
      if (at > 0) await pause();
      rounds.push(await hear(store, ids));
    }
    const instances = ids.map((id, at): InstanceFact => {
      const heard = rounds.map((round) => round[at] ?? SILENT);
      return {
        id,
        listedAtMs: index.find(({ member }) => member === id)?.score ?? 0,
        said: heard.map(({ record }) => record),
        refused: heard.find(({ refused }) => refused !== null)?.refused ?? null,
      };
    });
    return { kind: "heard", instances };
  } catch (fault) {
    return { kind: "unknown", why: fault instanceof Error ? fault.message : String(fault) };
  }
};

type Heard = { readonly record: SentRecord | null; readonly refused: string | null };
const SILENT: Heard = { record: null, refused: null };

const hear = async (store: Store, ids: readonly InstanceId[]): Promise<readonly Heard[]> => {
  const values = await store.getMany(ids.map(sentKey));
  return values.map((stored) => (stored === null ? SILENT : recordIn(stored.value)));
};

const recordIn = (text: string): Heard => {
  try {
    const parsed = SentRecord.safeParse(JSON.parse(text));
    if (parsed.success) return { record: parsed.data, refused: null };
    const [issue] = parsed.error.issues;
    return { record: null, refused: `${issue?.path.map(String).join(".")}: ${issue?.message}` };
  } catch {
    return { record: null, refused: "it is no JSON" };
  }
};
