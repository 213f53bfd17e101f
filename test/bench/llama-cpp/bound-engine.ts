/** A real llama.cpp through its binding for Node: prompts in, first tokens out, with what it computed counted. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** What is used of node-llama-cpp, which is no dependency: see show.ts. */
type Sequence = {
  readonly nextTokenIndex: number;
  readonly clearHistory: () => Promise<void>;
  readonly evaluate: (tokens: readonly number[]) => AsyncGenerator<number, unknown>;
  readonly eraseContextTokenRanges: (ranges: readonly { start: number; end: number }[]) => Promise<void>;
};
type Binding = {
  readonly getLlama: (options: object) => Promise<{
    readonly loadModel: (options: object) => Promise<{
      readonly createContext: (
        options: object,
      ) => Promise<{ readonly getSequence: () => Sequence; readonly dispose: () => Promise<void> }>;
      readonly dispose: () => Promise<void>;
    }>;
    readonly dispose: () => Promise<void>;
  }>;
};

export type Counted = {
  computedTokens: number;
  cachedTokens: number;
  prefillSeconds: number;
  outputTokens: number;
  /** In the one slot. */
  heldTokens: number;
};

export type BoundEngine = AsyncDisposable & {
  /**
   * Keeps what the slot holds of the prompt's beginning, computes the rest, and waits for the first token.
   *
   * @returns milliseconds to the first token, those of a processor in it, and how many tokens were computed for it
   */
  readonly firstToken: (
    prompt: readonly number[],
  ) => Promise<{ readonly ttftMs: number; readonly cpuMs: number; readonly uncachedTokens: number }>;
  readonly forget: () => Promise<void>;
  readonly counted: Counted;
};

/** @param modules a `node_modules` with node-llama-cpp and its prebuilt binary */
export const bindEngine = async (modules: string, modelPath: string, contextTokens: number): Promise<BoundEngine> => {
  const entry = pathToFileURL(join(modules, "node-llama-cpp/dist/index.js")).href;
  const { getLlama } = (await import(entry)) as Binding;
  const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, logLevel: "error", maxThreads: 1 });
  const model = await llama.loadModel({ modelPath });
  const context = await model.createContext({ contextSize: contextTokens, sequences: 1, threads: 1, batchSize: 512 });
  const sequence = context.getSequence();
  const counted: Counted = { computedTokens: 0, cachedTokens: 0, prefillSeconds: 0, outputTokens: 0, heldTokens: 0 };
  let held: readonly number[] = [];

  return {
    counted,
    forget: async () => {
      await sequence.clearHistory();
      held = [];
      counted.heldTokens = 0;
    },
    firstToken: async (prompt) => {
      const same = held.findIndex((token, at) => token !== prompt[at]);
      // The last token is computed always: without it there is no next one.
      const cached = Math.min(same === -1 ? held.length : same, prompt.length - 1);
      const begin = performance.now();
      const cpuBefore = process.cpuUsage();
      if (cached < sequence.nextTokenIndex) {
        await sequence.eraseContextTokenRanges([{ start: cached, end: sequence.nextTokenIndex }]);
      }
      const tokens = sequence.evaluate(prompt.slice(cached));
      await tokens.next();
      const ttftMs = performance.now() - begin;
      const cpu = process.cpuUsage(cpuBefore);
      await tokens.return(undefined);
      held = prompt.slice(0, sequence.nextTokenIndex);
      const uncachedTokens = prompt.length - cached;
      counted.computedTokens += uncachedTokens;
      counted.cachedTokens += cached;
      counted.prefillSeconds += ttftMs / 1_000;
      counted.outputTokens += 1;
      counted.heldTokens = held.length;
      return { ttftMs, cpuMs: (cpu.user + cpu.system) / 1_000, uncachedTokens };
    },
    [Symbol.asyncDispose]: async () => {
      await context.dispose();
      await model.dispose();
      await llama.dispose();
    },
  };
};
