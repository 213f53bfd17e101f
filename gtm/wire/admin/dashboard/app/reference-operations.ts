/** The operations of an OpenAPI document as the reference shows them. */
import type { Description, Operation, Parameter } from "#gtm/wire/admin/openapi.ts";
import { shellWord } from "./command.tsx";

export type Named = {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  /** The command line that does the same; null: there is none. */
  readonly command: string | null;
};

export const operationsOf = ({ paths = {} }: Description): readonly Named[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId = `${method} ${path}`, "x-gtm-command": command = null } = operation as {
        readonly operationId?: string;
        readonly "x-gtm-command"?: string | null;
      };
      return { id: operationId, method, path, operation, command };
    }),
  );

/** What the parameter's own example, or its schema's, is; null: neither has one. */
export const exampleOf = (parameter: Parameter): string | null => {
  const example = parameter["example"] ?? parameter.schema?.["example"];
  return example === undefined ? null : String(example);
};

export type Exemplified = {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
};

/** Those of an answer, each with what it is called on the page; none: the description has none. */
export const examplesIn = ({
  example,
  examples = {},
}: Exemplified): readonly { readonly title: string; readonly value: unknown }[] => [
  ...(example === undefined ? [] : [{ title: "Example of the answer", value: example }]),
  ...Object.values(examples).map(({ summary, value }) => ({ title: `Example of the answer: ${summary}`, value })),
];

/** A curl line that asks this GTM, with the examples of the description. */
export const curlOf = ({ method, path, operation }: Named, origin: string): string => {
  const { parameters = [], requestBody } = operation;
  const wanted = parameters.filter((one) => one.in === "path" || (one.in === "query" && one["required"] === true));
  const filled = wanted
    .filter((one) => one.in === "path")
    .reduce((address, one) => address.replace(`{${one.name}}`, encodeURIComponent(exampleOf(one) ?? one.name)), path);
  const query = new URLSearchParams(
    wanted.filter((one) => one.in === "query").map((one) => [one.name, exampleOf(one) ?? ""]),
  ).toString();
  const body = Object.values(requestBody?.content ?? {})[0]?.["example"];
  const words = [
    ...(method === "get" ? [] : ["-X", method.toUpperCase()]),
    `${origin}${filled}${query === "" ? "" : `?${query}`}`,
    ...(body === undefined ? [] : ["-H", "content-type: application/json", "-d", JSON.stringify(body)]),
  ];
  // The variable is the shell's, so it stands in double quotes.
  return ["curl -H", '"authorization: Bearer $GTM_TOKEN"', ...words.map(shellWord)].join(" ");
};
