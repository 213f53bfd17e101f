/** The addresses that the configuration listens at: DNS by both transports, and the ports of the rest. */
import type { GtmConfig } from "#gtm/config.ts";
import { askNetwork } from "#gtm/dns-check/ask.ts";
import type { ServerAddress } from "#gtm/dns-check/server-address.ts";
import { type LargeName, readDnsListener, readPort } from "#gtm/doctor/listener-facts.ts";
import { dnsListenerFindings, portFindings } from "#gtm/doctor/listeners.ts";
import type { Subject } from "#gtm/doctor/subject.ts";

export const listeners: Subject = {
  name: "listeners",
  look: async ({ config, ...context }) => {
    const { dns, http, admin, metrics } = config;
    const sockets = dns.listen.flatMap((one) => ("fd" in one ? [] : [one]));
    const zone = { zone: dns.zone.name, large: largestOf(config) };
    const ports = [
      ["the front door", http.listen],
      ["the admin API", admin.listen],
      ["metrics and health", metrics.listen],
    ] as const;
    const [running, dnsFacts, portFacts] = await Promise.all([
      context.running(),
      Promise.all(sockets.filter(isFixed).map((one) => readDnsListener(one, zone, askNetwork))),
      Promise.all(ports.filter(([, at]) => isFixed(at)).map(([what, at]) => readPort(what, at))),
    ]);
    const isRunning =
      running.kind === "answered" && running.status.instance === config.instance && IS_HERE.test(running.server);
    return [...dnsListenerFindings(dnsFacts, isRunning), ...portFindings(portFacts, isRunning)];
  },
};

/** An admin API that is reached from elsewhere says nothing of the listeners of this host. */
const IS_HERE = /^https?:\/\/(?:127\.|\[::1\]|localhost)/;

/** Port 0 is chosen anew at each start. */
const isFixed = ({ port }: ServerAddress): boolean => port !== 0;

/** An answer without EDNS has room for 512 octets, header and question included. */
const LARGE_OCTETS = 500;

/** Texts are what grows; the name and ten octets stand before each. */
const largestOf = ({ dns }: Pick<GtmConfig, "dns">): LargeName => {
  const sizes = new Map<string, number>();
  for (const { name, value } of dns.zone.records) {
    if (value.type !== "TXT" || name.startsWith("*.")) continue;
    const octets = value.texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 12);
    sizes.set(name, (sizes.get(name) ?? 0) + octets);
  }
  const [first] = [...sizes].filter(([, octets]) => octets > LARGE_OCTETS).toSorted((a, b) => b[1] - a[1]);
  return first === undefined ? null : { name: first[0], type: "TXT" };
};
