/** Asks one engine for everything it has to say: the paths of its kind, and of a stranger those that tell who it is. */
import type { Clock } from "#shared/clock.ts";
import type { Door } from "./door.ts";
import type { Engine, EnginePayloads } from "./engines/engine.ts";
import { ENGINES, engineOf } from "./engines/known.ts";
import type { EngineAnswers, Fetched, KnownEngine } from "./ports.ts";
import { furtherIn, isPage, pageIn } from "./read-payloads.ts";

export type EngineTarget = {
  /** `host:port`. */
  readonly address: string;
  /** Origin and path prefix, without a trailing slash. */
  readonly url: string;
  /** An engine's name, or `auto`. */
  readonly wish: string;
  readonly door: Door;
};

const MODELS = "/v1/models";
const USUAL_PAGE = "/metrics";
const USUAL_HEALTH = "/health";
/** How often answers may lead to further paths. */
const MOST_STEPS = 3;

/** Text first: Python's exporter answers OpenMetrics as soon as that is mentioned, whatever its weight. */
const PAGE = "text/plain; version=0.0.4, */*;q=0.1";
const JSON_TEXT = "application/json";

/** @param known what earlier rounds learnt of the address */
export const scrapeEngine = async (
  target: EngineTarget,
  known: KnownEngine,
  by: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<EngineAnswers> => {
  const asking = createAsking(target, by);
  const engine = engineNamed(target.wish === "auto" ? known.engine : target.wish) ?? (await introduced(asking));
  if (engine !== null) await interviewed(engine, asking, known.absentPaths);
  return answersOf(engine, asking, { door: target.door, clock: by.clock });
};

type Asked = { readonly fetched: Fetched; readonly atMs: number; readonly atEpochMs: number };
type Asking = {
  /** Asks those of the paths that have not been asked yet, all at once. */
  readonly ask: (paths: readonly string[], engine: Engine | null) => Promise<void>;
  readonly asked: ReadonlyMap<string, Asked>;
};

const createAsking = (
  { url, door }: EngineTarget,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Asking => {
  const asked = new Map<string, Asked>();
  const ask: Asking["ask"] = async (paths, engine) => {
    const fresh = [...new Set(paths)].filter((path) => !asked.has(path));
    await Promise.all(
      fresh.map(async (path) => {
        const fetched = await door.fetch(url + path, { ...mannerOf(path, engine), signal });
        asked.set(path, { fetched, atMs: clock.monotonicMs(), atEpochMs: clock.epochMs() });
      }),
    );
  };
  return { ask, asked };
};

/** Health is everybody's, and so is the page of most engines: a key is shown only where it is asked for. */
const mannerOf = (path: string, engine: Engine | null): { readonly accept: string; readonly isGuarded: boolean } => {
  if (path === (engine === null ? USUAL_HEALTH : engine.healthPath)) return { accept: "*/*", isGuarded: false };
  const isForPage = (engine?.metricsPaths ?? [USUAL_PAGE]).some((page) => path.split("?", 1)[0] === page);
  return { accept: isForPage ? PAGE : JSON_TEXT, isGuarded: !isForPage || engine?.guardsAll === true };
};

const interviewed = async (
  engine: Engine,
  { ask, asked }: Asking,
  absentPaths: KnownEngine["absentPaths"],
): Promise<void> => {
  const onAPage = (text: string): boolean =>
    [...asked.values()].some(({ fetched }) => isPage(fetched) && hasText(fetched, text));
  await ask([MODELS, ...(engine.healthPath === null ? [] : [engine.healthPath]), ...engine.firstPaths], engine);
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const before = asked.size;
    const next = engine.nextPaths(payloadsOf(asked, "unread"), onAPage);
    await ask(
      next.filter((path) => !absentPaths.has(path)),
      engine,
    );
    if (asked.size === before) return;
  }
};

const hasText = (fetched: Fetched, text: string): boolean =>
  fetched.kind === "answered" && fetched.octets.includes(text);

const answersOf = (
  engine: Engine | null,
  { asked }: Asking,
  { door, clock }: { readonly door: Door; readonly clock: Clock },
): EngineAnswers => {
  const fetched = (path: string | null): Fetched | null => (path === null ? null : (asked.get(path)?.fetched ?? null));
  const pagePaths = (engine?.metricsPaths ?? [USUAL_PAGE]).filter((path) => asked.has(path));
  const pagePath = pagePaths.find((path) => isPage(asked.get(path)?.fetched)) ?? pagePaths[0] ?? null;
  const healthPath = engine === null ? USUAL_HEALTH : engine.healthPath;
  // A page that is none stays among them, so that its engine can say why.
  const pageAt = isPage(asked.get(pagePath ?? "")?.fetched) ? pagePath : null;
  const others = [...asked].filter(([path]) => ![MODELS, healthPath, pageAt].includes(path));
  const last = [...asked.values()].reduce((newest, one) => (one.atMs > newest.atMs ? one : newest), {
    atMs: 0,
    atEpochMs: 0,
  });
  const { atMs, atEpochMs } = (pagePath === null ? undefined : asked.get(pagePath)) ?? last;
  return {
    metrics: fetched(pagePath),
    models: fetched(MODELS) ?? NOT_ASKED,
    health: fetched(healthPath),
    further: new Map(others.map(([path, one]) => [path, one.fetched])),
    faults: door.faults(),
    atMs: atMs > 0 ? atMs : clock.monotonicMs(),
    atEpochMs: atEpochMs > 0 ? atEpochMs : clock.epochMs(),
  };
};

/** Only where the code above forgot to ask. */
const NOT_ASKED: Fetched = { kind: "failed", code: "timed-out" };

const engineNamed = (name: string | null): Engine | null => ENGINES.find((engine) => engine.name === name) ?? null;

/** The model list first: llama.cpp's router may load a model where a page is asked for without knowing what is loaded. */
const introduced = async ({ ask, asked }: Asking): Promise<Engine | null> => {
  await ask([MODELS, USUAL_HEALTH], null);
  const byOwner = recognised(asked);
  if (byOwner !== null && !byOwner.firstPaths.includes(USUAL_PAGE)) return byOwner;
  await ask([USUAL_PAGE], null);
  const byPage = recognised(asked);
  if (byPage !== null) return byPage;
  await ask(
    ENGINES.flatMap(({ tellingPaths }) => tellingPaths),
    null,
  );
  return recognised(asked);
};

const recognised = (asked: Asking["asked"]): Engine | null => {
  const page = asked.get(USUAL_PAGE)?.fetched;
  return engineOf("auto", { ...payloadsOf(asked, "read"), page: page === undefined ? null : pageIn(page).page });
};

/** @param pages `read` where who they are is told by what is on them */
const payloadsOf = (asked: Asking["asked"], pages: "read" | "unread"): EnginePayloads => {
  const answers = [...asked].map(([path, { fetched }]) => [path, furtherIn(fetched, pages)] as const);
  const further = new Map(answers);
  const list = further.get(MODELS);
  further.delete(MODELS);
  return { page: null, models: list?.kind === "json" ? list.json : null, further };
};
