/** What each of the four ways adds to the first token where everybody is 80 ms from everybody, and whether a steady hour moves anybody. */
import { ENGINE_KEY } from "#deploy/demo/places.ts";
import { FOUR_WAYS, type FourWays, wayOf } from "#test/support/four-ways.ts";
import { freePort } from "#test/support/free-port.ts";
import { type Aim, openaiSdk, startChat } from "#test/support/sdk-turns.ts";
import { type SteeredRegions, startSteeredRegions } from "#test/support/steered-regions.ts";
import { STEERED_SITES } from "#test/support/steered-settings.ts";
import { openZoneClient } from "#test/support/zone-client.ts";
import { type Bench, type BenchRow, median } from "./bench.ts";
import { startFarAway } from "./far-away.ts";
import { steadyHour } from "./steady-hour.ts";

const RTT_MS = 80;
const CHATS = 12;
const LATER_TURNS = 4;
const FIRST_TOKENS = 400;
const MORE_TOKENS = 40;
const [HOME] = STEERED_SITES;

type Subject = FourWays | "direct";
type Times = { readonly first: number[]; readonly later: number[] };

const SUBJECTS: readonly Subject[] = ["direct", ...FOUR_WAYS];
const AGAINST = "the region's gateway asked directly";

/** How an SDK's user keeps what steering said, for as long as it holds. */
const keeping = (aim: () => Promise<Aim>): (() => Promise<Aim>) => {
  let kept: Promise<Aim> | null = null;
  return () => {
    kept ??= aim();
    return kept;
  };
};

const aimOf = (subject: Subject, house: SteeredRegions, fetch: typeof globalThis.fetch, conversation: string) => {
  if (subject === "direct") {
    const aim = { baseUrl: `https://${HOME.address}:${house.gatewayPort}/v1`, headers: {} };
    return () => Promise.resolve(aim);
  }
  const aim = wayOf(subject, house, { apiKey: ENGINE_KEY, fetch }, { conversation, from: HOME.client });
  return subject === "steer" ? keeping(aim) : aim;
};

/** A chat over connections of its own: the first turn opens them, the others find them open. */
const takeChat = async (subject: Subject, house: SteeredRegions, name: string, times: Times): Promise<void> => {
  await using client = openZoneClient({ ...house, lookupMs: RTT_MS });
  const aim = aimOf(subject, house, client.fetch, name);
  const chat = startChat(openaiSdk({ apiKey: ENGINE_KEY, fetch: client.fetch }), name);
  for (let turn = 0; turn <= LATER_TURNS; turn++) {
    const startedAtMs = performance.now();
    const to = await aim();
    const steeredMs = performance.now() - startedAtMs;
    const { ttftMs } = await chat.say(to, turn === 0 ? FIRST_TOKENS : MORE_TOKENS);
    (turn === 0 ? times.first : times.later).push(steeredMs + ttftMs);
  }
};

const measure = async (): Promise<ReadonlyMap<Subject, Times>> => {
  await using away = new AsyncDisposableStack();
  const port = await freePort();
  const originOf = ({ address }: { readonly address: string }): string => `https://${address}:${port}`;
  const near = away.use(await startSteeredRegions({ originOf }));
  for (const { address } of STEERED_SITES) {
    away.use(await startFarAway({ to: { address, port: near.gatewayPort }, address, rttMs: RTT_MS, port }));
  }
  const front = away.use(await startFarAway({ to: near.frontAddress, address: "127.0.0.1", rttMs: RTT_MS }));
  const house: SteeredRegions = {
    ...near,
    gatewayPort: port,
    frontUrl: (host) => near.frontUrl(host).replace(/\d+$/, String(front.port)),
  };
  const times = new Map<Subject, Times>(SUBJECTS.map((subject) => [subject, { first: [], later: [] }]));
  for (let chat = 0; chat <= CHATS; chat++) {
    // In turn, each first once: whatever else the machine does meets all.
    for (const at of SUBJECTS.keys()) {
      const subject = SUBJECTS[(at + chat) % SUBJECTS.length] ?? "direct";
      // The first chat of each compiles what the others use.
      const kept = chat === 0 ? { first: [], later: [] } : times.get(subject);
      if (kept !== undefined) await takeChat(subject, house, `${subject} ${chat}`, kept);
    }
  }
  return times;
};

const addedRows = (times: ReadonlyMap<Subject, Times>): readonly BenchRow[] => {
  const direct = times.get("direct") ?? { first: [], later: [] };
  const added = FOUR_WAYS.flatMap((way) => {
    const took = times.get(way) ?? direct;
    return (["first", "later"] as const).map((turn): BenchRow => {
      const what = `${way}: added to the first token, ${turn === "first" ? "first turn" : "later turns"}`;
      const value = median(took[turn]) - median(direct[turn]);
      return { what, value, unit: "ms", against: AGAINST, ratio: null, bound: null };
    });
  });
  const own = (["first", "later"] as const).map((turn): BenchRow => {
    const what = `direct: first token, ${turn === "first" ? "first turn" : "later turns"}`;
    return { what, value: median(direct[turn]), unit: "ms", against: null, ratio: null, bound: null };
  });
  return [...own, ...added];
};

export const bench: Bench = {
  name: "http-ways",
  run: async () => [...addedRows(await measure()), ...(await steadyHour())],
};
