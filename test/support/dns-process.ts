/** The DNS server in a process of its own, whose memory can be asked for: what strangers do to it is not done to the test. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createDnsServer } from "#gtm/wire/dns/server.ts";
import { dnsSubject } from "#test/bench/dns-subject.ts";
import { metricValue } from "./metric-value.ts";
import { here, type Place } from "./place.ts";

export type DnsProcessWish = {
  readonly address: string;
  /** Answers a second of a network; null: no limit. */
  readonly perPrefixQps: number | null;
  readonly tcpIdleMs: number;
};

type Question = { readonly ask: "rss" } | { readonly ask: "metric"; readonly name: string; readonly labels: object };

export type DnsProcess = AsyncDisposable & {
  readonly address: string;
  readonly port: number;
  /** Octets, after a collection of garbage. */
  readonly rss: () => Promise<number>;
  readonly metric: (name: string, labels?: Readonly<Record<string, string>>) => Promise<number>;
  /** null while it runs. */
  readonly exitCode: () => number | null;
};

/** @throws {Error} when the process ends before it listens */
export const startDnsProcess = async (
  wish: DnsProcessWish,
  within: Pick<Place, "spawn"> = here,
): Promise<DnsProcess> => {
  const command = [process.execPath, "--expose-gc", fileURLToPath(import.meta.url), JSON.stringify(wish)];
  const child = within.spawn(command, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const { port } = await answerOf<{ readonly port: number }>(child);
  const ask = async (question: Question): Promise<number> => {
    const answer = answerOf<number>(child);
    child.send(question);
    return answer;
  };
  return {
    address: wish.address,
    port,
    rss: () => ask({ ask: "rss" }),
    metric: (name, labels = {}) => ask({ ask: "metric", name, labels }),
    exitCode: () => child.exitCode,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null) return;
      const exited = once(child, "exit");
      child.disconnect();
      await exited;
    },
  };
};

const answerOf = async <T>(child: ChildProcess): Promise<T> => {
  const over = new AbortController();
  const { signal } = over;
  try {
    const gone = once(child, "exit", { signal }).then(() => Promise.reject(new Error("the server's process ended")));
    const [message] = (await Promise.race([once(child, "message", { signal }), gone])) as [T];
    return message;
  } finally {
    over.abort();
  }
};

/** As often as the world source makes one. */
const SNAPSHOT_MS = 100;

const serve = async ({ address, perPrefixQps, tcpIdleMs }: DnsProcessWish): Promise<void> => {
  const { options, renew } = dnsSubject();
  const server = createDnsServer({
    ...options,
    listen: [{ address, port: 0 }],
    limits: { ...options.limits, tcpIdleMs },
    rateLimit: { perPrefixQps, slip: 2, exempt: [] },
  });
  await server.start();
  setInterval(renew, SNAPSHOT_MS);
  process.on("message", (question: Question) => {
    if (question.ask === "rss") {
      globalThis.gc?.();
      process.send?.(process.memoryUsage().rss);
    } else {
      const { name, labels } = question;
      void metricValue(options.metrics, name, labels as Readonly<Record<string, string>>).then((value) =>
        process.send?.(value),
      );
    }
  });
  process.on("disconnect", () => process.exit());
  process.send?.({ port: server.addresses()[0]?.port ?? 0 });
};

const [, program, wish] = process.argv;
if (program === fileURLToPath(import.meta.url) && wish !== undefined) await serve(JSON.parse(wish) as DnsProcessWish);
