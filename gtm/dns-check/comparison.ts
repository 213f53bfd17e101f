/** Several instances' answers to one question, put side by side. */
import type { Asked } from "./ask.ts";
import { rcodeText } from "./message.ts";
import type { Question } from "./questions.ts";
import type { ServerAddress } from "./server-address.ts";

export type Said = {
  readonly kind: "said";
  readonly code: string;
  readonly isAuthoritative: boolean;
  /** "A 192.0.2.1", sorted: the order of a set says nothing. */
  readonly data: readonly string[];
  /** Of the answers, or of the SOA in a negative one; a class where the answer is steered. null: there is none. */
  readonly ttl: string | null;
  /** SCOPE PREFIX-LENGTH; null: the answer has no client subnet. */
  readonly scopeBits: number | null;
};

export type Answer = Said | { readonly kind: "failed"; readonly why: string };

export type Side = { readonly servers: readonly ServerAddress[]; readonly answer: Answer };

export type Comparison = {
  readonly question: Question;
  /** One: all say the same. In the order in which the servers were named. */
  readonly sides: readonly Side[];
};

export const compare = (
  question: Question,
  asked: readonly { readonly server: ServerAddress; readonly asked: Asked }[],
): Comparison => {
  const answers = asked.map((one) => ({ server: one.server, answer: answerOf(question, one.asked) }));
  const same = Map.groupBy(answers, ({ answer }) => JSON.stringify(answer));
  const sides = [...same.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ servers: group.map(({ server }) => server), answer: first.answer }];
  });
  return { question, sides };
};

export const isSame = ({ sides }: Comparison): boolean => sides.length === 1;

/** An answer that no instance gives is no difference between them, and no answer either. */
export const isAnswered = ({ sides }: Comparison): boolean => sides.every(({ answer }) => answer.kind === "said");

const answerOf = ({ kind }: Question, asked: Asked): Answer => {
  if (asked.kind === "failed") return { kind: "failed", why: asked.why };
  const { rcode, isAuthoritative, answers, authority, opt } = asked.reply;
  const said = {
    kind: "said",
    code: rcodeText(rcode),
    isAuthoritative,
    scopeBits: opt?.subnet?.scopeBits ?? null,
  } as const;
  if (kind === "telling") return { ...said, data: [], ttl: null };
  const ttls = (answers.length > 0 ? answers : authority).map(({ ttlSeconds }) => ttlSeconds);
  // A referral says its name servers there.
  const referred = answers.length > 0 || isAuthoritative ? [] : authority.filter(({ type }) => type === "NS");
  return {
    ...said,
    data: [...answers, ...referred].map(({ type, data }) => `${type} ${data}`).toSorted(),
    ttl: ttls.length === 0 ? null : ttlText(Math.min(...ttls), kind === "steered"),
  };
};

/** A steered answer is kept shorter while something is about to change: not everybody sees that in the same second. */
const CLASSES: readonly (readonly [seconds: number, name: string])[] = [
  [60, "up to 1 min"],
  [600, "up to 10 min"],
  [3_600, "up to 1 h"],
];

const ttlText = (seconds: number, isSteered: boolean): string =>
  isSteered ? (CLASSES.find(([most]) => seconds <= most)?.[1] ?? "over 1 h") : `${seconds} s`;
