/** What a prompt of 1 MB costs beside reading it to its end and throwing it away: processor time and memory. */
import { type Bench, type BenchRow, median } from "./bench.ts";
import { ask, forked } from "./children.ts";
import { compare, startServer } from "./http-compare.ts";
import type { LoadOrder, LoadResult } from "./http-load.ts";

const MEGABYTE = 1_000_000;

/** Text as people and programs write it: lines, quotes, code. */
const LINE =
  'The quick brown fox said "hello" to the lazy dog, and went on:\n  for (const one of all) { print(one); }\n';
const text = (octets: number): string => LINE.repeat(Math.ceil(octets / LINE.length));

const requestOf = (body: string): string =>
  [
    "POST /v1/chat/completions HTTP/1.1",
    "Host: front.llm.example.org",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "",
    body,
  ].join("\r\n");

const chatOf = (messages: readonly object[]): string => requestOf(JSON.stringify({ messages, model: "llama-70b" }));
const ONE_MESSAGE = chatOf([{ role: "user", content: text(MEGABYTE) }]);
const MANY_MESSAGES = chatOf(
  Array.from({ length: 500 }, (_, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content: text(2_000) })),
);
const few = { pairs: 4, requests: 60, connections: 4, against: "draining", bound: null, cpuBound: "≤ 2" } as const;

/** How much larger the process is after 100 prompts of 1 MB, 4 at a time, than after 100 of 1 KB. */
const memoryRow = async (): Promise<BenchRow> => {
  using front = await startServer("front-door");
  using load = forked("http-load.ts");
  const run = async (request: string, requests: number): Promise<number> => {
    const order: LoadOrder = { port: front.port, request, connections: 4, requests };
    await ask<LoadResult>(load, order);
    return (await front.cpu()).rssBytes;
  };
  const small = chatOf([{ role: "user", content: text(1_000) }]);
  const grown: number[] = [];
  await run(ONE_MESSAGE, 200);
  for (let round = 0; round < 3; round++) {
    const before = await run(small, 100);
    grown.push((await run(ONE_MESSAGE, 100)) - before);
  }
  return {
    what: "memory after 100 prompts of 1 MB, 4 at a time",
    value: median(grown),
    unit: "bytes more than after small ones",
    against: null,
    ratio: null,
    bound: "≤ 4 000 000",
  };
};

export const bench: Bench = {
  name: "http-body",
  run: async () => [
    ...(await compare({
      ...few,
      what: "307 of a chat of 1 MB in one message, recognised by its opening",
      request: ONE_MESSAGE,
    })),
    ...(await compare({
      ...few,
      what: "307 of a chat of 1 MB in 500 messages, recognised by its opening",
      request: MANY_MESSAGES,
    })),
    await memoryRow(),
  ],
};
