/** Names resolved by a server of one's choice, as connections ask for it. */
import type { LookupFunction } from "node:net";

/** @param resolve IPv4 addresses of a name, at least one; what it fails with is what the connection fails with */
export const lookupOf =
  (resolve: (name: string) => Promise<readonly string[]>): LookupFunction =>
  (name, { all }, done) => {
    resolve(name).then(
      (addresses) => {
        if (all === true) {
          done(
            null,
            addresses.map((address) => ({ address, family: 4 })),
          );
        } else done(null, addresses[0] ?? "", 4);
      },
      (fault: NodeJS.ErrnoException) => done(fault, ""),
    );
  };
