/** The table's plain rows asked once more by dig and kdig: what they read must be what dns-packet reads. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { askTcp, type QueryWish } from "#test/support/dns-client.ts";
import { countsOf, flagsOf, type Row } from "./row.ts";

type Peer = { readonly address: string; readonly port: number };
/** What a reply says of itself: code, AA, TC, and how many records its sections have. */
type Summary = string;
export type Reader = "dig" | "kdig";

const RCODES: Readonly<Record<number, string>> = { 0: "NOERROR", 2: "SERVFAIL", 3: "NXDOMAIN", 5: "REFUSED" };

/** Rows that say no more than a name and a type: other messages no sound program makes. */
export const plainQuestions = (rows: readonly Row[]): readonly Required<Pick<QueryWish, "name" | "type">>[] => {
  const plain = rows.filter(({ query, of = "usual" }) => {
    const { name, type, opt, ...more } = query;
    return of === "usual" && Object.keys(more).length === 0 && type !== 252 && type !== 251;
  });
  const asked = plain.map(({ query: { name = "chat.gslb.example.org", type = 1 } }) => `${name} ${type}`);
  return [...new Set(asked)].map((one) => {
    const [name = "", type = ""] = one.split(" ");
    return { name, type: Number(type) };
  });
};

/** One process for all of them, over TCP, so that nothing is cut. */
export const readBy = async (reader: Reader, { address, port }: Peer, questions: ReturnType<typeof plainQuestions>) => {
  const options = ["+norec", "+tcp", ...(reader === "dig" ? ["+nocookie", "+noadflag", "+nosearch"] : ["+edns"])];
  const each = questions.flatMap(({ name, type }) => [
    "-q",
    name === "" ? "." : `${name}.`,
    "-t",
    `TYPE${type}`,
    ...options,
  ]);
  const { stdout } = await promisify(execFile)(reader, [`@${address}`, "-p", String(port), ...options, ...each]);
  assert.doesNotMatch(stdout, /WARNING|malformed|extra bytes|bad packet/i);
  return stdout.split("HEADER<<-").slice(1).map(summaryOfText);
};

export const readByPacket = async (
  peer: Peer,
  questions: ReturnType<typeof plainQuestions>,
): Promise<readonly Summary[]> => {
  const summaries: Summary[] = [];
  for (const question of questions) {
    const reply = await askTcp(peer, { ...question, opt: {} });
    const { aa, tc } = flagsOf(reply);
    summaries.push(summary(RCODES[reply.rcode] ?? "", aa === 1, tc === 1, countsOf(reply).slice(1)));
  }
  return summaries;
};

const summary = (rcode: string, aa: boolean, tc: boolean, counts: readonly number[]): Summary =>
  `${rcode}${aa ? " aa" : ""}${tc ? " tc" : ""} ${counts.join("/")}`;

/** "; status: NOERROR" and "flags: qr aa; … ANSWER: 1, AUTHORITY: 0, ADDITIONAL: 1", commas or semicolons between. */
const summaryOfText = (text: string): Summary => {
  const [, rcode = ""] = /status: (\w+)/.exec(text) ?? [];
  const [, flags = ""] = /flags: ([a-z ]*)/i.exec(text) ?? [];
  const [, ...counts] = /ANSWER: (\d+)[,;] AUTHORITY: (\d+)[,;] ADDITIONAL: (\d+)/.exec(text) ?? [];
  return summary(rcode, / aa\b/.test(` ${flags}`), / tc\b/.test(` ${flags}`), counts.map(Number));
};
