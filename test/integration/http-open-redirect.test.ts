/** Attempts to point a redirect elsewhere: by Host, target, proxies' headers, line ends, dots, slashes and backslashes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { aPool, aRegion } from "#test/support/builders.ts";
import { startFrontDoor } from "#test/support/front-door.ts";
import { FRONT_HOST } from "#test/support/http-ask.ts";
import { rawConnect } from "#test/support/http-by-hand.ts";
import { stillServes } from "#test/support/http-still-serves.ts";
import { answersUntilEnd, askRaw, type RawAnswer } from "#test/support/raw-http.ts";

const REGION_URL = "https://frankfurt.r.llm.example.org";

const get = (target: string, headers = `Host: ${FRONT_HOST}\r\n`): string => `GET ${target} HTTP/1.1\r\n${headers}\r\n`;

describe("an attempt to point the redirect elsewhere", () => {
  const attempts: readonly { readonly by: string; readonly request: string; readonly status: number }[] = [
    { by: "a Host of somebody else", request: get("/v1/x", "Host: evil.example\r\n"), status: 307 },
    { by: "a Host with user information", request: get("/v1/x", `Host: ${FRONT_HOST}@evil.example\r\n`), status: 400 },
    { by: "a Host with a path", request: get("/v1/x", "Host: evil.example/\r\n"), status: 400 },
    { by: "a Host with a space", request: get("/v1/x", "Host: front evil.example\r\n"), status: 400 },
    { by: "a Host that is read as another address", request: get("/v1/x", "Host: 1.2:80\r\n"), status: 400 },
    { by: "a Host with a port that is none", request: get("/v1/x", `Host: ${FRONT_HOST}:99999\r\n`), status: 400 },
    { by: "two Hosts", request: get("/v1/x", `Host: ${FRONT_HOST}\r\nHost: evil.example\r\n`), status: 400 },
    { by: "no Host", request: get("/v1/x", ""), status: 400 },
    { by: "an empty Host", request: get("/v1/x", "Host:\r\n"), status: 400 },
    {
      by: "headers of proxies",
      request: get(
        "/v1/x",
        `Host: ${FRONT_HOST}\r\nX-Forwarded-Host: evil.example\r\nForwarded: host=evil.example;proto=http\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Port: 1\r\nX-Forwarded-Prefix: //evil.example\r\nX-Original-URL: //evil.example/v1\r\nX-Rewrite-URL: http://evil.example/v1\r\n`,
      ),
      status: 307,
    },
    { by: "an absolute target", request: get("http://evil.example/v1/x"), status: 307 },
    {
      by: "an absolute target with user information",
      request: get(`http://${FRONT_HOST}@evil.example/v1/x`),
      status: 400,
    },
    { by: "an absolute target of another scheme", request: get("ftp://evil.example/v1/x"), status: 400 },
    { by: "an absolute target of three slashes", request: get("http:///evil.example/v1/x"), status: 400 },
    { by: "a network path", request: get("//evil.example/v1/x"), status: 404 },
    { by: "a network path of backslashes", request: get("/\\evil.example/v1/x"), status: 400 },
    { by: "a network path below the pool's", request: get("/v1//evil.example/x"), status: 307 },
    { by: "a target that goes on the authority with @", request: get("@evil.example/v1/x"), status: 400 },
    { by: "a target that goes on the authority with a dot", request: get(".evil.example/v1/x"), status: 400 },
    { by: "a target that goes on the authority with a port", request: get(":80@evil.example/v1/x"), status: 400 },
    { by: "user information in the path", request: get("/v1/@evil.example/"), status: 307 },
    { by: "a URL in the query", request: get("/v1/x?next=//evil.example&u=http://evil.example"), status: 307 },
    { by: "dot segments", request: get("/v1/../../evil.example"), status: 404 },
    { by: "encoded dot segments", request: get("/v1/%2e%2E/.%2e/evil.example"), status: 404 },
    { by: "dot segments of backslashes", request: get("/v1\\..\\..\\evil.example"), status: 400 },
    { by: "dot segments back into the pool", request: get("/v1/a/../x"), status: 307 },
    { by: "encoded slashes", request: get("/v1/%2f%2fevil.example%5c..%2f.."), status: 307 },
    { by: "encoded line ends", request: get("/v1/x%0d%0aLocation:%20http://evil.example"), status: 307 },
    // The line feed ends a request line of HTTP/0.9; what follows is a header of the request, and no matter.
    { by: "a line feed in the target", request: get("/v1/x\nLocation: http://evil.example"), status: 307 },
    { by: "a carriage return in the target", request: get("/v1/x\rLocation: http://evil.example"), status: 400 },
    { by: "a tab in the target", request: get("/v1/x\t//evil.example"), status: 400 },
    { by: "a NUL in the target", request: get("/v1/x\0//evil.example"), status: 400 },
    { by: "an octet beyond ASCII in the target", request: get("/v1/\xe9"), status: 400 },
    {
      by: "a line feed in a name of a conversation",
      request: get("/v1/x", `Host: ${FRONT_HOST}\r\nX-Conversation-Id: a\nLocation: http://evil.example\r\n`),
      status: 400,
    },
    {
      by: "a carriage return in a model's name",
      request: get("/v1/x", `Host: ${FRONT_HOST}\r\nX-GTM-Model: a\rLocation: http://evil.example\r\n`),
      status: 400,
    },
    {
      by: "a folded header",
      request: get("/v1/x", `Host: ${FRONT_HOST}\r\nX-Conversation-Id: a\r\n Location: http://evil.example\r\n`),
      status: 400,
    },
    {
      by: "a Location of its own",
      request: get("/v1/x", `Host: ${FRONT_HOST}\r\nLocation: http://evil.example/\r\nHost-: evil.example\r\n`),
      status: 307,
    },
    { by: "a tunnel", request: `CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n`, status: 0 },
    { by: "a Host with a query", request: get("/v1/x", `Host: ${FRONT_HOST}?.evil.example\r\n`), status: 400 },
    { by: "a Host with a fragment", request: get("/v1/x", `Host: ${FRONT_HOST}#.evil.example\r\n`), status: 400 },
    { by: "a Host with a backslash", request: get("/v1/x", `Host: evil.example\\${FRONT_HOST}\r\n`), status: 400 },
    { by: "a Host with a list", request: get("/v1/x", `Host: ${FRONT_HOST}, evil.example\r\n`), status: 400 },
    { by: "a Host that is an IPv6 address", request: get("/v1/x", "Host: [2001:db8::1]:80\r\n"), status: 307 },
    { by: "a Host of two ports", request: get("/v1/x", `Host: ${FRONT_HOST}:80:81\r\n`), status: 400 },
    { by: "a Host that is a label of ours", request: get("/v1/x", "Host: evil.c.llm.example.org\r\n"), status: 307 },
    { by: "a Host of HTTP/1.0", request: `GET /v1/x HTTP/1.0\r\nHost: evil.example\r\n\r\n`, status: 307 },
    { by: "an absolute target without a path", request: get("http://evil.example?/v1/x"), status: 404 },
    {
      by: "an absolute target with a backslash",
      request: get(`http://evil.example\\@${FRONT_HOST}/v1/x`),
      status: 400,
    },
    { by: "a fragment", request: get("/v1#//evil.example"), status: 307 },
    { by: "parameters of a segment", request: get("/v1;//evil.example/x"), status: 404 },
    { by: "dot segments with parameters", request: get("/v1/..;/..;/evil.example"), status: 307 },
    { by: "dot segments encoded twice", request: get("/v1/%252e%252e/%252e%252e/evil.example"), status: 307 },
    { by: "dot segments in overlong UTF-8", request: get("/v1/%c0%ae%c0%ae/%c0%ae%c0%ae/evil.example"), status: 307 },
    { by: "a slash behind the pool's path that is encoded", request: get("/v1%2f..%2f..%2fevil.example"), status: 404 },
    { by: "the pool's path in another case", request: get("/V1/x"), status: 404 },
    {
      by: "a conversation in the query",
      request: get("/v1/x?conversation=%0d%0aLocation:%20//evil.example"),
      status: 307,
    },
    {
      by: "names of conversations that are URLs",
      request: get(
        "/v1/x",
        `Host: ${FRONT_HOST}\r\nX-GTM-Pin: //evil.example/\r\nX-GTM-Parent-Conversation: //evil.example\r\n`,
      ),
      status: 307,
    },
    { by: "parameters of our own", request: get("/v1/x?gtm_ticket=//evil.example&gtm_c=//evil.example"), status: 307 },
    { by: "an asterisk", request: `OPTIONS * HTTP/1.1\r\nHost: ${FRONT_HOST}\r\n\r\n`, status: 400 },
  ];

  const assertHarmless = ({ headers }: RawAnswer): void => {
    const location = headers.get("location");
    if (location === undefined) return;
    assert.ok(location.startsWith(`${REGION_URL}/v1`), location);
    const url = new URL(location);
    assert.deepEqual([url.origin, url.username, url.password], [REGION_URL, "", ""]);
    assert.match(url.pathname, /^\/v1(?:\/|$)/, "as clients resolve it, too");
    const pinned = headers.get("x-gtm-pinned-base-url");
    if (pinned !== undefined) assert.match(pinned, /^https:\/\/p1[0-9a-v]{40}\.c\.llm\.example\.org\/v1$/);
  };

  it("is made in more than fifty ways", () => assert.ok(attempts.length > 50, `${attempts.length}`));

  it("ends in a redirect to the configured region, or in none", async () => {
    await using front = await startFrontDoor({ worldRegions: [aRegion("frankfurt")] });
    const found: Record<string, number> = {};
    for (const { by, request } of attempts) {
      await using client = await rawConnect(front.port);
      client.send(request);
      client.finish();
      const [answer, ...more] = await answersUntilEnd(client);
      assert.deepEqual(more, [], by);
      if (answer !== undefined) assertHarmless(answer);
      found[by] = answer?.status ?? 0;
      assert.equal(answer?.headers.has("location") ?? false, found[by] === 307, by);
    }
    assert.deepEqual(found, Object.fromEntries(attempts.map(({ by, status }) => [by, status])));
    await stillServes(front);
  });

  it("does not move what is told by /v1/steer", async () => {
    await using front = await startFrontDoor({ worldRegions: [aRegion("frankfurt")] });
    for (const headers of [`Host: evil.example\r\n`, `Host: ${FRONT_HOST}\r\nX-Forwarded-Host: evil.example\r\n`]) {
      const { status, body } = await askRaw(front.port, get("/v1/steer?conversation=//evil.example/", headers));
      assert.equal(status, 200);
      assert.equal(JSON.parse(body).base_url, `${REGION_URL}/v1`);
      assert.equal(body.includes("evil"), false);
    }
  });

  it("is none of our business, where only our own names are answered", async () => {
    await using front = await startFrontDoor({ defaultPool: null });
    for (const request of [get("/v1/x", "Host: evil.example\r\n"), get("http://evil.example/v1/x")]) {
      assert.equal((await askRaw(front.port, request)).status, 421);
    }
    // RFC 9112 §3.2.2: the target counts, not Host.
    const ours = await askRaw(front.port, get(`http://chat.${FRONT_HOST}/v1/x`, "Host: evil.example\r\n"));
    assert.equal(ours.headers.get("location"), `${REGION_URL}/v1/x`);
  });

  it("stays below the region even where every path is the pool's", async () => {
    const regions = [aRegion("frankfurt")];
    const pool = aPool(regions, { paths: ["/"] });
    await using front = await startFrontDoor({ worldRegions: regions, pools: [pool], defaultPool: pool });
    for (const target of ["//evil.example/", "/%2f/evil.example", "/@evil.example", "/.evil.example"]) {
      const { status, headers } = await askRaw(front.port, get(target));
      assert.deepEqual([status, headers.get("location")], [307, REGION_URL + target]);
      assert.equal(new URL(headers.get("location") ?? "").origin, REGION_URL);
    }
  });
});
