/** A server of a region for tests of forwarding: answers as it is told, and remembers what it was asked. Disposable. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { aPool, aRegion } from "./builders.ts";
import { type FrontDoorWish, type RunningFrontDoor, startFrontDoor } from "./front-door.ts";

export type Origin = AsyncDisposable & {
  readonly url: string;
  readonly requests: readonly IncomingMessage[];
};

export const startOrigin = async (
  answer: (incoming: IncomingMessage, outgoing: ServerResponse) => unknown,
): Promise<Origin> => {
  const requests: IncomingMessage[] = [];
  const listener: RequestListener = (incoming, outgoing) => {
    requests.push(incoming);
    void answer(incoming, outgoing);
  };
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
};

/** Reads the body to its end. */
export const textOf = async (incoming: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

/** Frankfurt is the cheapest for every test client. @param origins by region */
export const startForwarding = (
  origins: { readonly frankfurt: string; readonly virginia?: string },
  wish: FrontDoorWish = {},
  mode: "forward" | "auto" | "redirect" = "forward",
): Promise<RunningFrontDoor> => {
  const regions = Object.entries(origins).map(([id, url]) =>
    aRegion(id, { endpoint: { url, ipv4: ["192.0.2.10"], ipv6: [] } }),
  );
  const pool = aPool(regions, { mode });
  return startFrontDoor({ worldRegions: regions, pools: [pool], defaultPool: pool, ...wish });
};
