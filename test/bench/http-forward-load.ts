/** Asks for streams on raw keep-alive sockets, one at a time on each, and notes when each began; or opens streams that idle. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export type StreamOrder =
  | { readonly kind: "streams"; readonly port: number; readonly connections: number; readonly streams: number }
  | { readonly kind: "idle"; readonly port: number; readonly connections: number };
export type StreamResult = {
  readonly perSecond: number;
  /** From the request's last octet to the answer's first, microseconds. */
  readonly firstByteP50: number;
  readonly firstByteP99: number;
};

const BODY = JSON.stringify({
  model: "llama-70b",
  stream: true,
  messages: [{ role: "user", content: "What is the weather like in Frankfurt? ".repeat(20) }],
});
const requestText = (further: string): string =>
  [
    "POST /v1/chat/completions HTTP/1.1",
    "Host: front.llm.example.org",
    "Authorization: Bearer sk-0123456789abcdef0123456789abcdef",
    "X-Conversation-Id: 6f1c2b1e-3c5b-4a6e-9a5e-0f2d3c4b5a69",
    "Content-Type: application/json",
    `Content-Length: ${BODY.length}`,
    ...(further === "" ? [] : [further]),
    "",
    BODY,
  ].join("\r\n");

const LAST_CHUNK = "\r\n0\r\n\r\n";
const open: Socket[] = [];

type Talk = { readonly send: () => void; readonly socket: Socket };

/** @param onFirst milliseconds from the request to the answer's first octet */
const talk = (
  port: number,
  onFirst: (ms: number) => void,
  onEnd: () => void,
  onFault: (fault: Error) => void,
): Talk => {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const text = requestText("");
  let sentAt = 0;
  let tail = "";
  const begin = (chunk: string): void => {
    onFirst(performance.now() - sentAt);
    if (!chunk.startsWith("HTTP/1.1 200 ")) onFault(new Error(`expected a 200, got ${chunk.slice(0, 200)}`));
  };
  socket.setEncoding("latin1");
  socket.on("error", onFault);
  socket.on("data", (chunk: string) => {
    if (tail === "") begin(chunk);
    tail = (tail + chunk).slice(-LAST_CHUNK.length);
    if (tail === LAST_CHUNK) onEnd();
  });
  const send = (): void => {
    tail = "";
    sentAt = performance.now();
    socket.write(text);
  };
  return { send, socket };
};

const streams = ({ port, connections, streams: count }: StreamOrder & { kind: "streams" }): Promise<StreamResult> =>
  new Promise((resolve, reject) => {
    let toSend = count;
    let toCome = count;
    const firsts: number[] = [];
    const talks: Talk[] = [];
    const startedAt = performance.now();
    const finish = (): void => {
      const seconds = (performance.now() - startedAt) / 1_000;
      for (const { socket } of talks) socket.destroy();
      firsts.sort((a, b) => a - b);
      const at = (share: number): number => (firsts[Math.floor((firsts.length - 1) * share)] ?? 0) * 1_000;
      resolve({ perSecond: count / seconds, firstByteP50: at(0.5), firstByteP99: at(0.99) });
    };
    for (let at = 0; at < connections; at++) {
      const next = (): void => {
        if (toSend === 0) return;
        toSend -= 1;
        one.send();
      };
      const ended = (): void => {
        toCome -= 1;
        if (toCome === 0) finish();
        else next();
      };
      const one = talk(port, (ms) => firsts.push(ms), ended, reject);
      one.socket.on("connect", next);
      talks.push(one);
    }
  });

/** Resolves once each has its first event. */
const idle = async ({ port, connections }: StreamOrder & { kind: "idle" }): Promise<StreamResult> => {
  for (let at = 0; at < connections; at++) {
    const socket = connect({ port, host: "127.0.0.1" });
    open.push(socket);
    socket.write(requestText("X-Idle: 1"));
    await once(socket, "data");
  }
  return { perSecond: 0, firstByteP50: 0, firstByteP99: 0 };
};

if (process.send !== undefined) {
  process.on("message", (order: StreamOrder) => {
    (order.kind === "idle" ? idle(order) : streams(order)).then(
      (result) => process.send?.(result),
      (fault: unknown) => {
        process.stderr.write(`${String(fault)}\n`);
        process.exit(1);
      },
    );
  });
}
