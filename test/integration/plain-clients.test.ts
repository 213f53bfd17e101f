/**
 * curl, requests, httpx and Python's own urllib, as the distribution has them, by each way to a region: the key arrives. What is
 * resolved by nobody else here is told to the Python programs by address.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { ENGINE_KEY } from "#deploy/demo/places.ts";
import { SIMULATED_ALIAS } from "#test/support/engine-simulators.ts";
import { type FourWays, wayOf } from "#test/support/four-ways.ts";
import type { Aim } from "#test/support/sdk-turns.ts";
import { type SteeredRegions, startSteeredRegions } from "#test/support/steered-regions.ts";
import { STEERED_SITES, ZONE } from "#test/support/steered-settings.ts";

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

/** Only the addresses of the zone's names are told; all else is the library's. */
const PYTHON_RESOLVES = `
import json, os, socket
known, resolve = json.loads(os.environ["ADDRESSES"]), socket.getaddrinfo
def told(host, *rest, **more):
    name = host.decode() if isinstance(host, bytes) else host
    return resolve(known.get(name, host), *rest, **more)
socket.getaddrinfo = told
`;
const PYTHON_READS = `
print(json.dumps({"status": reply.status_code, "region": reply.headers.get("x-sim-region"),
    "hops": len(reply.history), "text": text}))
`;

/** With the key as a header, as their documentation says; names are not theirs to resolve here, addresses are. */
const PROGRAMS = {
  requests: `
import requests
reply = requests.post(os.environ["BASE"] + "/chat/completions", data=os.environ["BODY"], stream=True,
    headers=json.loads(os.environ["HEADERS"]), verify=os.environ["CA"])
text = "".join(line for line in reply.iter_lines(decode_unicode=True))
${PYTHON_READS}`,
  httpx: `
import ssl, httpx
trust = ssl.create_default_context(cafile=os.environ["CA"])
with httpx.Client(verify=trust, follow_redirects=True, timeout=None) as client:
    with client.stream("POST", os.environ["BASE"] + "/chat/completions", content=os.environ["BODY"],
            headers=json.loads(os.environ["HEADERS"])) as reply:
        text = "".join(reply.iter_lines())
${PYTHON_READS}`,
  urllib: `
import ssl, urllib.request
trust = ssl.create_default_context(cafile=os.environ["CA"])
asked = urllib.request.Request(os.environ["BASE"] + "/chat/completions", os.environ["BODY"].encode(),
    json.loads(os.environ["HEADERS"]))
with urllib.request.urlopen(asked, context=trust) as reply:
    text = "".join(line.decode() for line in reply)
    print(json.dumps({"status": reply.status, "region": reply.headers.get("x-sim-region"), "hops": 0, "text": text}))
`,
} as const;
type Library = keyof typeof PROGRAMS;

const headersOf = (conversation: string): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${ENGINE_KEY}`,
  "content-type": "application/json",
  "x-conversation-id": conversation,
  "x-forwarded-for": HOME.client,
});

const frontOf = ({ frontAddress }: SteeredRegions): string => `http://${frontAddress.address}:${frontAddress.port}`;

type PythonAim = Aim & { /** By host. */ readonly addresses?: Readonly<Record<string, string>> };

const byPython = async (name: Library, aim: PythonAim): Promise<Ended> => {
  const headers = { ...headersOf(name), ...aim.headers };
  const env = {
    ...{ PATH: process.env["PATH"] ?? "", BASE: aim.baseUrl, BODY, CA: house.authorityFile, NO_PROXY: "*" },
    ...{ HEADERS: JSON.stringify(headers), ADDRESSES: JSON.stringify(aim.addresses ?? {}) },
  };
  const { stdout } = await run("/usr/bin/python3", ["-c", PYTHON_RESOLVES + PROGRAMS[name]], { env, timeout: 60_000 });
  return JSON.parse(stdout) as Ended;
};

const throughTheFront = (): PythonAim => ({ baseUrl: `${frontOf(house)}/v1`, headers: {} });

/** Where the other ways lead, with the address of every name on them. */
const aimAt = async (way: Exclude<FourWays, "ticket">, conversation: string): Promise<PythonAim> => {
  const sdk = { apiKey: ENGINE_KEY, fetch: byAddress };
  const aim = await wayOf(way, house, sdk, { conversation, from: HOME.client })();
  const host = new URL(aim.baseUrl).hostname;
  return { ...aim, addresses: { [host]: await addressOf(host) } };
};

/** As a resolver would find it: the front door's names are the operator's, the label's is the GTM's. */
const addressOf = async (host: string): Promise<string> => {
  if (!host.endsWith(ZONE) || host.endsWith(`front.${ZONE}`))
    return host.endsWith(ZONE) ? house.frontAddress.address : host;
  const resolver = new Resolver();
  resolver.setServers([house.dnsServer]);
  const [address = ""] = await resolver.resolve4(host);
  return address;
};

const byAddress: typeof fetch = (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  url.hostname = house.frontAddress.address;
  return fetch(url, init);
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
    requests: () => byPython("requests", throughTheFront()),
    httpx: () => byPython("httpx", throughTheFront()),
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

describe("a Python client of the distribution", () => {
  for (const name of Object.keys(PROGRAMS) as Library[]) {
    for (const way of ["label", "steer", "forward"] as const) {
      it(`is served without a redirect, streamed, in its region: ${name} by ${way}`, async () => {
        const ended = await byPython(name, await aimAt(way, `${name} by ${way}`));
        const { status, region, hops, text } = ended;
        assert.deepEqual({ status, region, hops }, { status: 200, region: HOME.id, hops: 0 }, text);
        assert.match(text, /"cached_tokens"/);
        assert.match(text, /\[DONE\]/);
      });
    }
  }
});
