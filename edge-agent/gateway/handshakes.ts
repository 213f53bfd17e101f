/** Times TLS handshakes: from the client's hello, when our flight leaves, to its `Finished`, one round trip later. */
import type { SecureContext, TLSSocket } from "node:tls";
import type { TlsFiles } from "#shared/tls-files.ts";

export type Handshakes = {
  /** For `SNICallback`: Node calls it with the connection as `this`, while it reads the hello. */
  readonly onServerName: (
    this: unknown,
    name: string,
    done: (fault: Error | null, context?: SecureContext) => void,
  ) => void;
  /** For `secureConnection`. */
  readonly onSecured: (socket: TLSSocket) => void;
};

/** A client that sends no name (SNI) is not timed: nothing tells when its hello came. */
export const watchHandshakes = (tls: TlsFiles, onTimed: (socket: TLSSocket, tookMs: number) => void): Handshakes => {
  const begun = new WeakMap<object, number>();
  return {
    onServerName(_, done) {
      if (typeof this === "object" && this !== null) begun.set(this, performance.now());
      done(null, tls.current().context);
    },
    onSecured: (socket) => {
      const atMs = begun.get(socket);
      if (atMs !== undefined) onTimed(socket, performance.now() - atMs);
    },
  };
};
