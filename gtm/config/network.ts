/** Networks in the configuration. */
import { isIPv4, isIPv6 } from "node:net";
import { z } from "zod";

/** CIDR notation. */
export const cidr = z.string().refine((text) => {
  const [network = "", bits = "", ...rest] = text.split("/");
  // A zone index ("fe80::1%eth0") is an address to Node and no network to anybody.
  const most = isIPv4(network) ? 32 : isIPv6(network) && !network.includes("%") ? 128 : -1;
  return rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= most;
}, "must be a network such as 192.0.2.0/24 or 2001:db8::/32");
