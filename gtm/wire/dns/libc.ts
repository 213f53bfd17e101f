/**
 * The functions of libc by which several datagrams are received or sent in one call, which Node does not offer: recvmmsg(2) and
 * sendmmsg(2) of Linux, called through koffi. Without koffi, or on another system, datagrams come and go one at a time.
 */
import { createRequire } from "node:module";
import { endianness } from "node:os";
import { getSystemErrorName } from "node:util";
import { SOCKADDR_OCTETS, writeSocketAddress } from "./socket-address.ts";

export type Libc = {
  /** Where memory lies; it stays there for as long as it is referred to. */
  readonly addressOf: (memory: ArrayBuffer) => bigint;
  /**
   * @param at of `count` mmsghdr, one behind the other
   * @returns how many came, 0 where none waits; below 0: -errno
   */
  readonly receive: (fd: number, at: bigint, count: number) => number;
  /** The index of an interface by its name; 0: there is none, or "". */
  readonly scopeOf: (name: string) => number;
  /** @returns how many were taken; below 0: -errno of the first, and none was taken */
  readonly send: (fd: number, at: bigint, count: number) => number;
  /**
   * A UDP socket that is bound, and closed by whoever adopts it.
   *
   * @param port 0: any free one
   * @param isShared others may listen there too, and the kernel spreads datagrams over them (SO_REUSEPORT)
   * @throws {Error} naming the call and the system's word, such as "bind EADDRINUSE 127.0.0.1:53"
   */
  readonly openUdp: (at: { readonly address: string; readonly port: number; readonly isShared: boolean }) => number;
};

// asm-generic/socket.h, in.h, in6.h and socket.h of Linux, alike on every architecture of `ARCHITECTURES`.
const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_DGRAM_CLOEXEC = 2 | 0o2000000;
const SOL_SOCKET = 1;
const SO_REUSEPORT = 15;
const IPPROTO_IPV6 = 41;
const IPV6_V6ONLY = 26;
const MSG_DONTWAIT = 0x40;
const EBADF = 9;
const EAGAIN = 11;
const NO_FD = -1;

/** Of 64 bits and little-endian, on which the layout of `datagram-batch.ts` holds for glibc and musl. */
const ARCHITECTURES: ReadonlySet<string> = new Set(["x64", "arm64"]);

type Call = (...given: readonly (number | bigint | Uint8Array | null)[]) => number;
/** What is used of koffi. */
type Koffi = {
  readonly load: (path: null) => { readonly func: (prototype: string) => Call };
  readonly address: (memory: ArrayBuffer) => bigint;
  readonly errno: () => number;
};

/** @returns null where this system cannot do it; says why through `onMissing` */
export const loadLibc = (onMissing: (why: string) => void): Libc | null => {
  if (process.platform !== "linux" || !ARCHITECTURES.has(process.arch) || endianness() !== "LE") {
    onMissing(`${process.platform} on ${process.arch} has no such calls that this program knows`);
    return null;
  }
  try {
    const libc = libcOf(createRequire(import.meta.url)("koffi") as Koffi);
    const refused = [libc.receive(NO_FD, 0n, 0), libc.send(NO_FD, 0n, 0)].find((result) => result !== -EBADF);
    if (refused === undefined) return libc;
    // A system call filter, as of a container, says so by one of several words.
    onMissing(`the system refuses recvmmsg or sendmmsg: ${getSystemErrorName(refused)}`);
    return null;
  } catch (fault) {
    onMissing(fault instanceof Error ? (fault.message.split("\n", 1)[0] ?? "") : String(fault));
    return null;
  }
};

const libcOf = (koffi: Koffi): Libc => {
  // What the program itself is linked with.
  const linked = koffi.load(null);
  const socket = linked.func("int socket(int, int, int)");
  const setsockopt = linked.func("int setsockopt(int, int, int, void *, uint32_t)");
  const bind = linked.func("int bind(int, void *, uint32_t)");
  const close = linked.func("int close(int)");
  const recvmmsg = linked.func("int recvmmsg(int, void *, uint32_t, int, void *)");
  const sendmmsg = linked.func("int sendmmsg(int, void *, uint32_t, int)");
  const ifNametoindex = linked.func("uint32_t if_nametoindex(void *)");
  const scopeOf = (name: string): number => (name === "" ? 0 : ifNametoindex(Buffer.from(`${name}\0`)));

  const checked = (what: string, where: string, result: number): number => {
    if (result >= 0) return result;
    throw new Error(`${what} ${getSystemErrorName(-koffi.errno())} ${where}`);
  };
  const switchOn = (fd: number, level: number, option: number, where: string): void => {
    checked("setsockopt", where, setsockopt(fd, level, option, Buffer.from([1, 0, 0, 0]), 4));
  };
  return {
    addressOf: koffi.address,
    scopeOf,
    receive: (fd, at, count) => {
      const received = recvmmsg(fd, at, count, MSG_DONTWAIT, null);
      if (received >= 0) return received;
      const errno = koffi.errno();
      return errno === EAGAIN ? 0 : -errno;
    },
    send: (fd, at, count) => {
      const sent = sendmmsg(fd, at, count, MSG_DONTWAIT);
      return sent >= 0 ? sent : -koffi.errno();
    },
    openUdp: ({ address, port, isShared }) => {
      const isIpv6 = address.includes(":");
      const where = isIpv6 ? `[${address}]:${port}` : `${address}:${port}`;
      const name = Buffer.alloc(SOCKADDR_OCTETS);
      const length = writeSocketAddress(name, { address, port }, scopeOf);
      if (length === 0) throw new Error(`bind EINVAL ${where}`);
      const fd = checked("socket", where, socket(isIpv6 ? AF_INET6 : AF_INET, SOCK_DGRAM_CLOEXEC, 0));
      try {
        // IPv4 has a socket of its own, on the same port.
        if (isIpv6) switchOn(fd, IPPROTO_IPV6, IPV6_V6ONLY, where);
        if (isShared) switchOn(fd, SOL_SOCKET, SO_REUSEPORT, where);
        checked("bind", where, bind(fd, name, length));
      } catch (fault) {
        close(fd);
        throw fault;
      }
      return fd;
    },
  };
};
