/** TCP ports of loopback that nobody listens on and that no outgoing connection is given. */
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below what systems give to outgoing connections (from 32 768 on Linux, 49 152 elsewhere): a server that is killed finds
 * its port free again, and a client that knocks meanwhile cannot be connected with itself. Ten thousand more is a legal
 * port too, which Redis Cluster asks for by default.
 */
const LOWEST = 12_000;
const COUNT = 20_000;
/** More than a test file asks for: files run beside each other, and what one was given it may listen on much later. */
const APART = 211;

let given = process.pid * APART;

/** Never the same twice in one process. @throws {Error} when a hundred ports in a row were taken */
export const freePort = async (): Promise<number> => {
  for (let tries = 0; tries < 100; tries += 1) {
    given += 1;
    const port = LOWEST + (given % COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port found from ${LOWEST} to ${LOWEST + COUNT - 1}`);
};

/** On all addresses: regions of a test have addresses of their own. */
const isFree = async (port: number): Promise<boolean> => {
  const server = createServer();
  try {
    server.listen(port, "0.0.0.0");
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
};
