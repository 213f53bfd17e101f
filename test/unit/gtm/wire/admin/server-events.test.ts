/** Server-sent events out of a byte stream. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ServerEvent, serverEvents } from "#gtm/wire/admin/server-events.ts";

const read = async (text: string, octetsAtOnce: number): Promise<ServerEvent[]> => {
  const octets = new TextEncoder().encode(text);
  const chunks = async function* () {
    for (let i = 0; i < octets.length; i += octetsAtOnce) yield octets.subarray(i, i + octetsAtOnce);
  };
  const events: ServerEvent[] = [];
  for await (const event of serverEvents(chunks())) events.push(event);
  return events;
};

const TEXT =
  'retry: 2000\n\nid: b1-1\nevent: decision\ndata: {"a":"→"}\n\n: heartbeat\n\ndata:one\ndata: two\n\nevent: skipped\nid: \ndata: {}\n\nid: cut\ndata: off';
const EVENTS: readonly ServerEvent[] = [
  { id: "b1-1", event: "decision", data: '{"a":"→"}' },
  { id: null, event: "message", data: "one\ntwo" },
  { id: "", event: "skipped", data: "{}" },
];

describe("an event stream", () => {
  for (const octets of [1, 2, 7, 1_000]) {
    it(`that comes ${octets} octets at a time is read the same`, async () => {
      assert.deepEqual(await read(TEXT, octets), EVENTS);
    });
  }
  for (const octets of [1, 1_000]) {
    it(`with CRLF, ${octets} octets at a time, is read the same`, async () => {
      assert.deepEqual(await read(TEXT.replaceAll("\n", "\r\n"), octets), EVENTS);
    });
  }
  it("with an event that never ends is given up", async () => {
    await assert.rejects(read(`data: ${"x".repeat(9_000_000)}`, 1_000_000), /more than 8 MiB/);
  });
});
