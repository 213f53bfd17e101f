/** Asks all instances the same questions, and those that differ again until what is news has reached everybody. */
import { type Ask, type Asked, askWhole } from "./ask.ts";
import { type Comparison, compare, isSame } from "./comparison.ts";
import { NOERROR, rcodeText } from "./message.ts";
import { PLAIN_OPT } from "./opt.ts";
import type { Question } from "./questions.ts";
import type { ServerAddress } from "./server-address.ts";

export type InstancesChecked = {
  /** Those that do not answer the first question with authority, and are asked no other; `why` is the end of a sentence. */
  readonly unable: readonly { readonly server: ServerAddress; readonly why: string; readonly isLocal: boolean }[];
  readonly able: readonly ServerAddress[];
  readonly compared: readonly Comparison[];
};

export type InstancesPorts = {
  readonly ask: Ask;
  readonly sleep: (ms: number) => Promise<void>;
};

/** Longer than the two seconds in which reports, orders and pins reach every instance. */
export const AGAIN = { times: 5, everyMs: 500 } as const;

/** A second of them is less than what an instance answers a network in a second before it limits it (200). */
const AT_ONCE = 8;
const BREATH_MS = 50;

export const checkInstances = async (
  servers: readonly ServerAddress[],
  questions: readonly Question[],
  ports: InstancesPorts,
): Promise<InstancesChecked> => {
  const [first, ...rest] = questions;
  if (first === undefined) throw new Error("a check without a question");
  const heard = await Promise.all(
    servers.map(async (server) => ({ server, asked: await askOne(ports.ask, server, first) })),
  );
  const unable = heard.flatMap(({ server, asked }) => {
    const why = whyUnable(asked);
    return why === null ? [] : [{ server, why, isLocal: asked.kind === "failed" && asked.isLocal }];
  });
  const answered = heard.filter(({ asked }) => whyUnable(asked) === null);
  const able = answered.map(({ server }) => server);
  if (able.length === 0) return { unable, able, compared: [] };
  let compared: readonly Comparison[] = [compare(first, answered), ...(await askAll(able, rest, ports))];
  for (let times = 0; times < AGAIN.times && !compared.every(isSame); times += 1) {
    await ports.sleep(AGAIN.everyMs);
    const differing = compared.filter((one) => !isSame(one)).map(({ question }) => question);
    const again = new Map((await askAll(able, differing, ports)).map((one) => [one.question, one]));
    compared = compared.map((one) => again.get(one.question) ?? one);
  }
  return { unable, able, compared };
};

const whyUnable = (asked: Asked): string | null => {
  if (asked.kind === "failed") return asked.why;
  const { rcode, isAuthoritative, answers } = asked.reply;
  if (rcode === NOERROR && isAuthoritative && answers.length > 0) return null;
  return `it is not authoritative for the zone (${rcodeText(rcode)})`;
};

const askAll = async (
  servers: readonly ServerAddress[],
  questions: readonly Question[],
  { ask, sleep }: InstancesPorts,
): Promise<readonly Comparison[]> => {
  const compared: Comparison[] = [];
  for (let at = 0; at < questions.length; at += AT_ONCE) {
    if (at > 0) await sleep(BREATH_MS);
    const some = questions.slice(at, at + AT_ONCE).map(async (question) => {
      const asked = servers.map(async (server) => ({ server, asked: await askOne(ask, server, question) }));
      return compare(question, await Promise.all(asked));
    });
    compared.push(...(await Promise.all(some)));
  }
  return compared;
};

const askOne = (ask: Ask, server: ServerAddress, { name, type, subnet }: Question): Promise<Asked> =>
  askWhole(ask, server, { name, type, opt: { ...PLAIN_OPT, subnet } });
