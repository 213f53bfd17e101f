/** TCP ports of loopback that nobody listens on and that no outgoing connection is given. */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below what systems give to outgoing connections (from 32 768 on Linux, 49 152 elsewhere): a server that is killed finds
 * its port free again, and a client that knocks meanwhile cannot be connected with itself. Ten thousand more is a legal
 * port too, which Redis Cluster asks for by default.
 */
const LOWEST = 12_000;
const HIGHEST = 31_999;

/** @throws {Error} when a hundred ports in a row were taken */
export const freePort = async (): Promise<number> => {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port found between ${LOWEST} and ${HIGHEST}`);
};

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
};
