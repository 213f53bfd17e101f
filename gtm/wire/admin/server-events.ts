/** Server-sent events out of a byte stream, as the HTML Living Standard §9.2.6 says; for the command line and the page. */

export type ServerEvent = { readonly id: string | null; readonly event: string; readonly data: string };

/** An event longer than this is not one of ours. */
const LONGEST = 8_388_608;

/** @throws {Error} when an event is longer than 8 MiB, or as the stream does */
export async function* serverEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    if (rest.length > LONGEST) throw new Error("the event stream holds an event of more than 8 MiB");
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = eventOf(block);
      if (event !== null) yield event;
    }
  }
}

/** null: a comment or a mere `retry`. */
const eventOf = (block: string): ServerEvent | null => {
  let id: string | null = null;
  let event = "message";
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, "");
    const field = line.slice(0, colon);
    if (field === "id") id = value;
    else if (field === "event") event = value;
    else if (field === "data") data.push(value);
  }
  return data.length === 0 ? null : { id, event, data: data.join("\n") };
};
