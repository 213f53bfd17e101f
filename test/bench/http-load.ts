/** A load generator in a process of its own: raw keep-alive sockets, one request at a time on each, nothing pipelined. */
import { connect, type Socket } from "node:net";

export type LoadOrder = {
  readonly port: number;
  /** The octets of one request, as latin1 text; `{number}` in it is seven digits. */
  readonly request: string;
  /** The first request's number and how many there are before it begins again; absent: all say 0. */
  readonly numbers?: { readonly from: number; readonly count: number };
  readonly connections: number;
  readonly requests: number;
  /** Of every answer; absent: 307. */
  readonly status?: number;
};
export type LoadResult = { readonly perSecond: number };

const digits = (number: number): string => String(number).padStart(7, "0");

const HEAD_END = "\r\n\r\n";

/** Octets of the first answer in the text, head included; 0: not all there yet. */
const lengthOfAnswer = (text: string, status: number): number => {
  const head = text.indexOf(HEAD_END);
  if (head === -1) return 0;
  if (!text.startsWith(`HTTP/1.1 ${status} `)) throw new Error(`expected ${status}, got ${text.slice(0, 200)}`);
  const announced = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head + 2))?.[1] ?? "0";
  const length = head + HEAD_END.length + Number(announced);
  return text.length < length ? 0 : length;
};

const run = (order: LoadOrder): Promise<LoadResult> =>
  new Promise((resolve, reject) => {
    let toSend = order.requests;
    let toCome = order.requests;
    const startedAt = process.hrtime.bigint();
    const sockets: Socket[] = [];
    const { from, count } = order.numbers ?? { from: 0, count: 1 };
    const [head = "", tail = null] = order.request.split("{number}");
    const request = Buffer.from(tail === null ? head : `${head}${digits(from)}${tail}`, "latin1");
    const send = (socket: Socket): void => {
      if (toSend === 0) return;
      toSend -= 1;
      if (tail === null) socket.write(request);
      else socket.write(`${head}${digits(from + (toSend % count))}${tail}`, "latin1");
    };
    const finish = (): void => {
      const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9;
      for (const socket of sockets) socket.destroy();
      resolve({ perSecond: order.requests / seconds });
    };
    for (let at = 0; at < order.connections; at++) {
      const socket = connect({ port: order.port, host: "127.0.0.1", noDelay: true });
      let text = "";
      socket.setEncoding("latin1");
      socket.on("error", reject);
      socket.on("connect", () => send(socket));
      socket.on("data", (chunk: string) => {
        text += chunk;
        const length = lengthOfAnswer(text, order.status ?? 307);
        if (length === 0) return;
        text = text.slice(length);
        toCome -= 1;
        if (toCome === 0) finish();
        else send(socket);
      });
      sockets.push(socket);
    }
  });

if (process.send !== undefined) {
  process.on("message", (order: LoadOrder) => {
    run(order).then(
      (result) => process.send?.(result),
      (fault: unknown) => {
        process.stderr.write(`${String(fault)}\n`);
        process.exit(1);
      },
    );
  });
}
