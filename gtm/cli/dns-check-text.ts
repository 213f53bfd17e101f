/** Answers of several instances for people, a line each where they differ; or as JSON. */
import { type Answer, type Comparison, isAnswered, isSame } from "#gtm/dns-check/comparison.ts";
import type { InstancesChecked } from "#gtm/dns-check/instances-check.ts";
import { questionText } from "#gtm/dns-check/questions.ts";
import { serverText } from "#gtm/dns-check/server-address.ts";
import type { Format } from "./api-command.ts";
import type { Cell, Column } from "./cell.ts";
import { table } from "./table.ts";

export type { Format } from "./api-command.ts";

export const isAlike = ({ unable, compared }: InstancesChecked): boolean =>
  unable.every(({ isLocal }) => isLocal) && compared.length > 0 && compared.every(isAgreed);

const isAgreed = (one: Comparison): boolean => isSame(one) && isAnswered(one);

export const comparisonText = (checked: InstancesChecked, format: Format, isColourful: boolean): string => {
  switch (format) {
    case "json":
      return `${JSON.stringify({ items: checked.compared.map(itemOf), unable: unableOf(checked) }, null, 2)}\n`;
    case "jsonl":
      return [...checked.compared.map(itemOf), ...unableOf(checked)].map((one) => `${JSON.stringify(one)}\n`).join("");
    case "table":
      return `${answersTable(checked, isColourful)}\n${summary(checked)}\n`;
  }
};

const unableOf = ({ unable }: InstancesChecked) =>
  unable.map(({ server, why }) => ({ server: serverText(server), why }));

const itemOf = (one: Comparison) => ({
  question: { name: one.question.name, type: one.question.type, subnet: one.question.subnet },
  steered: one.question.kind === "steered",
  same: isSame(one),
  sides: one.sides.map(({ servers, answer }) => ({ servers: servers.map(serverText), ...jsonOf(answer) })),
});

const jsonOf = (answer: Answer) =>
  answer.kind === "failed"
    ? { error: answer.why }
    : {
        code: answer.code,
        authoritative: answer.isAuthoritative,
        data: answer.data,
        ttl: answer.ttl,
        scope: answer.scopeBits,
      };

const COLUMNS: readonly Column[] = [
  { header: "QUESTION" },
  { header: "ASKED" },
  { header: "CODE" },
  { header: "TTL" },
  { header: "SCOPE", align: "right" },
  { header: "DATA" },
];

const answersTable = ({ unable, able, compared }: InstancesChecked, isColourful: boolean): string => {
  const unheard = unable.map(({ server, why }): readonly Cell[] => [
    "(every)",
    serverText(server),
    red("unable"),
    "",
    "",
    why,
  ]);
  return table(COLUMNS, [...compared.flatMap((one) => rowsOf(one, able.length)), ...unheard], isColourful);
};

const red = (text: string): Cell => ({ text, colour: "red" });

/** What is the same has one line; else the sides stand below one another, the question beside the first. */
const rowsOf = (one: Comparison, all: number): readonly (readonly Cell[])[] =>
  one.sides.map(({ servers, answer }, at) => {
    const question = at === 0 ? questionText(one.question) : "";
    const asked = isSame(one) ? (all === 1 ? "the one" : `all ${all}`) : red(servers.map(serverText).join(", "));
    return [question, asked, ...answerCells(answer)];
  });

const answerCells = (answer: Answer): readonly Cell[] => {
  if (answer.kind === "failed") return [red("silent"), "", "", answer.why];
  const { code, isAuthoritative, ttl, scopeBits, data } = answer;
  return [
    isAuthoritative ? code : `${code} (no authority)`,
    ttl ?? "-",
    scopeBits === null ? "-" : `${scopeBits}`,
    data.join(", ") || "-",
  ];
};

const summary = ({ unable, able, compared }: InstancesChecked): string => {
  const agreed = compared.filter(isAgreed).length;
  const heard = `${able.length} of ${able.length + unable.length} addresses answer`;
  return `${heard}; of ${compared.length} questions ${agreed} have one answer, ${compared.length - agreed} do not.`;
};
