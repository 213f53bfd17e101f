/** `/v1/steer` against a bare redirect that drains the same body. */
import type { Bench } from "./bench.ts";
import { compare } from "./http-compare.ts";

const BODY = JSON.stringify({ model: "llama-70b", conversation: "6f1c2b1e-3c5b-4a6e-9a5e-0f2d3c4b5a69" });
const head = (method: string, target: string): readonly string[] => [
  `${method} ${target} HTTP/1.1`,
  "Host: front.llm.example.org",
  "User-Agent: OpenAI/JS 7.59.0",
  "Accept: application/json",
  "Authorization: Bearer sk-0123456789abcdef0123456789abcdef",
];
const POST = [
  ...head("POST", "/v1/steer"),
  "Content-Type: application/json",
  `Content-Length: ${BODY.length}`,
  "",
  BODY,
].join("\r\n");
const GET = [...head("GET", "/v1/steer?model=llama-70b&conversation=6f1c2b1e-3c5b-4a6e"), "", ""].join("\r\n");

export const bench: Bench = {
  name: "http-steer",
  run: async () => [
    ...(await compare({ what: "POST /v1/steer", request: POST, against: "draining", status: 200, bound: "≥ 0.7" })),
    ...(await compare({ what: "GET /v1/steer", request: GET, against: "draining", status: 200, bound: null })),
  ],
};
