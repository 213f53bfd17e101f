/** curl, requests and httpx, as the distribution has them: a redirect with a ticket over TLS, followed, and the key arrives. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { ENGINE_KEY } from "#deploy/demo/places.ts";
import { SIMULATED_ALIAS } from "#test/support/engine-simulators.ts";
import { type SteeredRegions, startSteeredRegions } from "#test/support/steered-regions.ts";
import { STEERED_SITES } from "#test/support/steered-settings.ts";

const run = promisify(execFile);
const [HOME] = STEERED_SITES;

let house: SteeredRegions;
before(async () => {
  house = await startSteeredRegions();
});
after(() => house[Symbol.asyncDispose]());

const BODY = JSON.stringify({
  ...{ model: SIMULATED_ALIAS, max_tokens: 8, stream: true, stream_options: { include_usage: true } },
  messages: [{ role: "user", content: "Hello" }],
});

/** What a client says at its end: status, the engine's region, how many origins it asked, and the stream. */
type Ended = { readonly status: number; readonly region: string; readonly hops: number; readonly text: string };

const PYTHON_READS = `
print(json.dumps({"status": reply.status_code, "region": reply.headers.get("x-sim-region"),
    "hops": len(reply.history), "text": text}))
`;

/** With the key as a header, as their documentation says; names are not theirs to resolve here, addresses are. */
const clients: Readonly<Record<string, { readonly command: string; readonly args: readonly string[] }>> = {
  requests: {
    command: "/usr/bin/python3",
    args: [
      "-c",
      `
import json, os, requests
reply = requests.post(os.environ["FRONT"] + "/v1/chat/completions", data=os.environ["BODY"], stream=True,
    headers=json.loads(os.environ["HEADERS"]), verify=os.environ["CA"])
text = "".join(line for line in reply.iter_lines(decode_unicode=True))
${PYTHON_READS}`,
    ],
  },
  httpx: {
    command: "/usr/bin/python3",
    args: [
      "-c",
      `
import json, os, ssl, httpx
trust = ssl.create_default_context(cafile=os.environ["CA"])
with httpx.Client(verify=trust, follow_redirects=True, timeout=None) as client:
    with client.stream("POST", os.environ["FRONT"] + "/v1/chat/completions", content=os.environ["BODY"],
            headers=json.loads(os.environ["HEADERS"])) as reply:
        text = "".join(reply.iter_lines())
${PYTHON_READS}`,
    ],
  },
};

const headersOf = (conversation: string): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${ENGINE_KEY}`,
  "content-type": "application/json",
  "x-conversation-id": conversation,
  "x-forwarded-for": HOME.client,
});

const frontOf = ({ frontAddress }: SteeredRegions): string => `http://${frontAddress.address}:${frontAddress.port}`;

const byPython = async (name: string): Promise<Ended> => {
  const { command, args } = clients[name] ?? { command: "false", args: [] };
  const env = {
    PATH: process.env["PATH"] ?? "",
    ...{
      FRONT: frontOf(house),
      BODY,
      CA: house.authorityFile,
      HEADERS: JSON.stringify(headersOf(name)),
      NO_PROXY: "*",
    },
  };
  const { stdout } = await run(command, args, { env, timeout: 60_000 });
  return JSON.parse(stdout) as Ended;
};

const byCurl = async (): Promise<Ended> => {
  const headers = Object.entries(headersOf("curl")).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const { stdout } = await run(
    "curl",
    [
      ...["-sSNL", "--noproxy", "*", "--cacert", house.authorityFile, ...headers, "-d", BODY],
      ...["-w", "\\n%{json}\\n%header{x-sim-region}", `${frontOf(house)}/v1/chat/completions`],
    ],
    { timeout: 60_000 },
  );
  const [region = "", json = "", ...stream] = stdout.split("\n").reverse();
  const { http_code, num_redirects } = JSON.parse(json);
  return { status: http_code, region, hops: num_redirects, text: stream.reverse().join("\n") };
};

describe("a client that drops its key at a redirect to another origin", () => {
  const cases: Readonly<Record<string, () => Promise<Ended>>> = {
    "curl -L": byCurl,
    requests: () => byPython("requests"),
    httpx: () => byPython("httpx"),
  };
  for (const [name, take] of Object.entries(cases)) {
    it(`is served all the same, streamed, in its region: ${name}`, async () => {
      const { status, region, hops, text } = await take();
      assert.deepEqual({ status, region, hops }, { status: 200, region: HOME.id, hops: 1 }, text);
      assert.match(text, /"cached_tokens"/);
      assert.match(text, /\[DONE\]/);
    });
  }
});
