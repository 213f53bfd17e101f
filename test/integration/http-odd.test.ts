/** Requests that are odd and yet HTTP: they are redirected like any other. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startFrontDoor } from "#test/support/front-door.ts";
import { FRONT_HOST } from "#test/support/http-ask.ts";
import { stillServes } from "#test/support/http-still-serves.ts";
import { askRaw } from "#test/support/raw-http.ts";

const HOST = `Host: ${FRONT_HOST}\r\n`;

describe("an odd request", () => {
  const cases: readonly { readonly what: string; readonly request: string; readonly status: number }[] = [
    {
      what: "that would become a WebSocket",
      request: `GET /v1/x HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n`,
      status: 307,
    },
    {
      what: "that would become HTTP/2",
      request: `GET /v1/x HTTP/1.1\r\n${HOST}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n`,
      status: 307,
    },
    { what: "of HTTP/1.0, without a Host", request: "GET /v1/x HTTP/1.0\r\n\r\n", status: 307 },
    { what: "after an empty line", request: `\r\nGET /v1/x HTTP/1.1\r\n${HOST}\r\n`, status: 307 },
    {
      what: "in chunks with a trailer, which is no header",
      request: `POST /v1/x HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nHost: evil.example\r\nLocation: //evil.example\r\n\r\n`,
      status: 307,
    },
    {
      what: "with a body where none is usual",
      request: `GET /v1/x HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\n{}`,
      status: 307,
    },
    {
      what: "that expects what nobody knows",
      request: `POST /v1/x HTTP/1.1\r\n${HOST}Expect: tea\r\nContent-Length: 0\r\n\r\n`,
      status: 417,
    },
  ];
  for (const { what, request, status } of cases) {
    it(`${what} is answered ${status}`, async () => {
      await using front = await startFrontDoor();
      const answer = await askRaw(front.port, request);
      assert.equal(answer.status, status);
      const location = status === 307 ? "https://frankfurt.r.llm.example.org/v1/x" : undefined;
      assert.equal(answer.headers.get("location"), location);
      await stillServes(front);
    });
  }
});
