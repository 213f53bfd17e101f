/** HTTP/1.1 by hand, for requests that no client library would send. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export type RawAnswer = {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
};

export type RawConnection = AsyncDisposable & {
  /** @param octets a string is latin1: one octet a character */
  readonly send: (octets: string | Uint8Array) => void;
  /** Resolves once what was sent has left this process's buffers. */
  readonly sent: () => Promise<void>;
  /** The next answer; "head": to a HEAD, so without a body. @throws {Error} when the connection ends before it does */
  readonly answer: (extent?: "whole" | "head") => Promise<RawAnswer>;
  /** How the connection ended: by the other side's FIN, or by a reset. */
  readonly ended: Promise<"end" | "reset">;
  /** What has been received and not been taken as an answer. */
  readonly rest: () => string;
  /** Ends our side only. */
  readonly finish: () => void;
  readonly destroy: () => void;
};

export const rawConnect = async (port: number): Promise<RawConnection> => {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const wakers = new Set<() => void>();
  let text = "";
  let ending: "end" | "reset" | null = null;
  const wake = (): void => {
    for (const waker of wakers) waker();
  };
  const ended = new Promise<"end" | "reset">((resolve) => {
    const end = (how: "end" | "reset"): void => {
      ending ??= how;
      resolve(ending);
      wake();
    };
    socket.on("end", () => end("end"));
    socket.on("error", () => end("reset"));
    socket.on("close", () => end("end"));
  });
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    text += chunk;
    wake();
  });
  await once(socket, "connect");

  const take = (extent: "whole" | "head"): RawAnswer | null => {
    const found = answerIn(text, extent);
    if (found === null) return null;
    text = text.slice(found.length);
    return found.answer;
  };
  const answer = (extent: "whole" | "head" = "whole"): Promise<RawAnswer> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const taken = take(extent);
        if (taken === null && ending === null) return;
        wakers.delete(look);
        if (taken !== null) resolve(taken);
        else reject(new Error(`the connection ended (${ending}) before an answer; received ${JSON.stringify(text)}`));
      };
      wakers.add(look);
      look();
    });

  return {
    send: (octets) => {
      socket.write(typeof octets === "string" ? Buffer.from(octets, "latin1") : octets);
    },
    sent: () => drained(socket),
    answer,
    ended,
    rest: () => text,
    finish: () => socket.end(),
    destroy: () => socket.destroy(),
    [Symbol.asyncDispose]: async () => {
      socket.destroy();
      await ended;
    },
  };
};

const drained = async (socket: Socket): Promise<void> => {
  if (socket.writableNeedDrain) await once(socket, "drain");
};

const answerIn = (text: string, extent: "whole" | "head"): { answer: RawAnswer; length: number } | null => {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
  if (Number.isNaN(status)) throw new Error(`not an answer: ${JSON.stringify(first)}`);
  const headers = new Map(lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), valueIn(line)]));
  const length = extent === "head" || status < 200 || status === 204 ? 0 : Number(headers.get("content-length") ?? 0);
  const start = end + 4;
  if (text.length < start + length) return null;
  return { answer: { status, headers, body: text.slice(start, start + length) }, length: start + length };
};

const valueIn = (line: string): string => line.slice(line.indexOf(":") + 1).trim();

/** Sends one request on a connection of its own and takes the answer. */
export const rawExchange = async (port: number, request: string | Uint8Array): Promise<RawAnswer> => {
  await using connection = await rawConnect(port);
  connection.send(request);
  return await connection.answer(request.toString().startsWith("HEAD ") ? "head" : "whole");
};

/** A request's text. @param headers lines such as "Host: a"; Content-Length is added for a body */
export const requestText = (firstLine: string, headers: readonly string[] = [], body = ""): string =>
  [
    `${firstLine} HTTP/1.1`,
    ...(headers.some((line) => /^host:/i.test(line)) ? [] : ["Host: front.llm.example.org"]),
    ...headers,
    ...(body === "" ? [] : [`Content-Length: ${Buffer.byteLength(body, "latin1")}`]),
    "",
    body,
  ].join("\r\n");
