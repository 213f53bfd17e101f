/** The front door's 307 with a conversation header against bare redirects of Hono and of its adapter; and what a large body costs. */
import { JSONParser } from "@streamparser/json";
import { type BodyScan, createBodyScan } from "#gtm/wire/http/body-scan.ts";
import { memberNames } from "#gtm/wire/http/member-paths.ts";
import { createSmallBodyScan } from "#gtm/wire/http/small-body.ts";
import { alternate, type Bench, type BenchRow, bytesPerIteration, nsPerIteration } from "./bench.ts";
import { compare } from "./http-compare.ts";

const requestText = (method: string, body: string): string =>
  [
    `${method} /v1/chat/completions?trace=1 HTTP/1.1`,
    "Host: front.llm.example.org",
    "User-Agent: OpenAI/JS 7.59.0",
    "Accept: application/json",
    "Authorization: Bearer sk-0123456789abcdef0123456789abcdef",
    "X-Conversation-Id: 6f1c2b1e-3c5b-4a6e-9a5e-0f2d3c4b5a69",
    ...(body === "" ? [] : ["Content-Type: application/json", `Content-Length: ${body.length}`]),
    "",
    body,
  ].join("\r\n");

const CHAT = JSON.stringify({
  model: "llama-70b",
  stream: true,
  max_tokens: 256,
  messages: [
    { role: "system", content: "You are a helpful assistant." },
    { role: "user", content: "What is the weather like in Frankfurt?" },
  ],
});

/** A chat of 20 MB, most of it text with escapes, and the model behind it; in the pieces that a socket delivers. */
const UPLOAD = (() => {
  const line = 'The quick brown fox said \\"hello\\" to the lazy dog.\\n ';
  const text = Buffer.from(`{"messages":[{"role":"user","content":"${line.repeat(370_000)}"}],"model":"llama-70b"}`);
  return Array.from({ length: Math.ceil(text.length / 65_536) }, (_, at) =>
    text.subarray(at * 65_536, (at + 1) * 65_536),
  );
})();
const UPLOAD_MEGABYTES = UPLOAD.reduce((sum, { length }) => sum + length, 0) / 1e6;

const NAMES = memberNames(["model", "user", "metadata.session_id"]);

const scanOurs = (): unknown => {
  const scan = createBodyScan(NAMES);
  for (const chunk of UPLOAD) scan.write(chunk);
  const { values } = scan.scanned();
  if (values.get("model") !== "llama-70b") throw new Error("the model was not found");
  return values;
};
const scanTheirs = (): unknown => {
  const found: unknown[] = [];
  const parser = new JSONParser({ paths: ["$.model", "$.user", "$.metadata.session_id"], keepStack: false });
  parser.onValue = ({ value }) => found.push(value);
  for (const chunk of UPLOAD) parser.write(chunk);
  if (found[0] !== "llama-70b") throw new Error("the model was not found");
  return found;
};

const SMALL = Buffer.from(CHAT);
const valuesOf = (scan: BodyScan): unknown => {
  scan.write(SMALL);
  return scan.scanned().values;
};
const outline = (): BodyScan => createBodyScan(NAMES);

const smallRow = async (): Promise<BenchRow> => {
  const nanoseconds = (scan: () => BodyScan) => () =>
    nsPerIteration(20_000, (count) => {
      let values: unknown;
      for (let at = 0; at < count; at++) values = valuesOf(scan());
      return values;
    });
  const parsed = (): BodyScan => createSmallBodyScan(SMALL.length, NAMES, outline);
  const { a, ratio } = await alternate(20, nanoseconds(parsed), nanoseconds(outline));
  return {
    what: `a chat of ${SMALL.length} octets that came whole, parsed for its model`,
    value: a,
    unit: "ns",
    against: "its outline",
    ratio,
    bound: "≤ 0.7",
  };
};

const scanRows = async (): Promise<readonly BenchRow[]> => {
  const nanoseconds = (scan: () => unknown) => () => nsPerIteration(1, scan);
  const { a, ratio } = await alternate(5, nanoseconds(scanOurs), nanoseconds(scanTheirs));
  return [
    {
      what: `scan of a chat of ${UPLOAD_MEGABYTES.toFixed(0)} MB for its model`,
      value: a / 1e6,
      unit: "ms",
      against: "@streamparser/json",
      ratio,
      bound: "≤ 0.2",
    },
    {
      // The text of one chunk at a time, made and dropped, where quotes are escaped: a search of octets that makes none takes four
      // times the processor time. What a process grows by is measured in http-body.
      what: `scan of a chat of ${UPLOAD_MEGABYTES.toFixed(0)} MB: put on the heap and dropped`,
      value: await bytesPerIteration(1, scanOurs),
      unit: "bytes",
      against: null,
      ratio: null,
      bound: null,
    },
  ];
};

export const bench: Bench = {
  name: "http",
  run: async () => [
    await smallRow(),
    ...(await scanRows()),
    ...(await compare({
      what: "307, POST of a chat with conversation header",
      request: requestText("POST", CHAT),
      against: "hono",
      bound: "≥ 0.85",
    })),
    ...(await compare({
      what: "307, POST of a chat with conversation header",
      request: requestText("POST", CHAT),
      against: "draining",
      bound: null,
    })),
    ...(await compare({
      what: "307, GET with conversation header",
      request: requestText("GET", ""),
      against: "bare",
      bound: "≥ 0.6",
    })),
  ],
};
