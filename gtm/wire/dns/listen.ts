/** Where the server listens: addresses that it opens itself, or sockets that were opened for it. */
import { OperationalError } from "#shared/errors.ts";
import { type InheritedSocket, inheritedSocket, type Surroundings } from "./inherited.ts";

export type ListenAddress = { readonly address: string /** 0: any free one. */; readonly port: number };

export type Listen =
  /** Gets UDP and TCP on one port. */
  | ListenAddress
  /** One socket, of UDP or TCP; its counterpart is another. */
  | { readonly fd: number };

export type Listener = {
  /** @returns the port; @throws what the system says when the address cannot be had */
  readonly open: (at: ListenAddress) => Promise<number>;
  /** The same on a socket that is bound already. */
  readonly adopt: (socket: InheritedSocket) => Promise<void>;
  /** Takes nothing new, sends what is under way, closes. */
  readonly close: () => Promise<void>;
};

export type Opened = { readonly listeners: readonly Listener[]; readonly at: ListenAddress };

export type Openers = {
  readonly udp: () => Listener;
  readonly tcp: () => Listener;
  readonly surroundings: Surroundings;
};

/** Where any port will do, one that is free for UDP may be taken for TCP. */
const MOST_TRIES = 16;

/**
 * @param onOpened after each, so that what is open can be closed when a later one cannot be had
 * @throws {OperationalError} GTM_LISTEN_FAILED, naming protocol and address, or the descriptor
 */
export const openAll = async (
  listen: readonly Listen[],
  openers: Openers,
  onOpened: (opened: Opened) => void,
): Promise<void> => {
  for (const at of listen) if (!("fd" in at)) onOpened(await openAddress(at, openers));
  const sockets = listen.flatMap((at) => ("fd" in at ? [readSocket(at.fd, openers.surroundings)] : []));
  for (const socket of sockets) requireCounterpart(socket, sockets);
  for (const socket of sockets) {
    const listener = openers[socket.protocol]();
    await opening(`fd:${socket.fd}`, () => listener.adopt(socket));
    onOpened({ listeners: [listener], at: { address: socket.address, port: socket.port } });
  }
};

const openAddress = async (at: ListenAddress, openers: Openers): Promise<Opened> => {
  for (let tries = 1; ; tries++) {
    try {
      return await openBoth(at, openers);
    } catch (fault) {
      if (at.port !== 0 || tries === MOST_TRIES) throw fault;
    }
  }
};

const openBoth = async (at: ListenAddress, openers: Openers): Promise<Opened> => {
  const udp = openers.udp();
  const port = await opening(`udp ${placeText(at)}`, () => udp.open(at));
  const tcp = openers.tcp();
  try {
    await opening(`tcp ${placeText({ ...at, port })}`, () => tcp.open({ ...at, port }));
  } catch (fault) {
    await udp.close();
    throw fault;
  }
  return { listeners: [udp, tcp], at: { address: at.address, port } };
};

const readSocket = (fd: number, surroundings: Surroundings): InheritedSocket => {
  try {
    return inheritedSocket(fd, surroundings);
  } catch (cause) {
    throw failed(`fd:${fd}`, cause);
  }
};

/** Half a server shows only when an answer does not fit a datagram. */
const requireCounterpart = (socket: InheritedSocket, sockets: readonly InheritedSocket[]): void => {
  const wanted = socket.protocol === "udp" ? "tcp" : "udp";
  const isThere = sockets.some(
    (one) => one.protocol === wanted && one.address === socket.address && one.port === socket.port,
  );
  if (isThere) return;
  throw new OperationalError(
    "GTM_LISTEN_FAILED",
    `expected beside fd:${socket.fd} (${socket.protocol} ${placeText(socket)}) a descriptor of ${wanted} at the same address, found none`,
  );
};

const opening = async <T>(where: string, open: () => Promise<T>): Promise<T> => {
  try {
    return await open();
  } catch (cause) {
    throw failed(where, cause);
  }
};

const failed = (where: string, cause: unknown): OperationalError => {
  const found = cause instanceof Error ? cause.message : String(cause);
  return new OperationalError("GTM_LISTEN_FAILED", `expected to listen on ${where}, found: ${found}`, { cause });
};

const placeText = ({ address, port }: ListenAddress): string =>
  `${address.includes(":") ? `[${address}]` : address}:${port}`;
