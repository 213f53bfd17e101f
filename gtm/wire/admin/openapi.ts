/** The API's own description, completed: what the routes' schemas do not say is the same for many routes and is added here. */
import { ANSWER_EXAMPLES } from "./examples/answer-examples.ts";
import { OPERATIONS, type OperationNotes, TAGS } from "./operation-notes.ts";
import { PROBLEMS, type ProblemCode, problemOf } from "./problem.ts";

type Json = Readonly<Record<string, unknown>>;
export type Parameter = { readonly name: string; readonly in: string; readonly schema?: Json } & Json;
export type Operation = {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Json>> } & Json;
  readonly responses: Readonly<Record<string, Json>>;
};
export type Description = {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: Json;
} & Json;

/** @param roleFor what a request of this method (upper case) and path needs */
export const completed = (description: Description, roleFor: (method: string, path: string) => string): Description => {
  const { paths = {}, components = {} } = description;
  return {
    ...description,
    tags: TAGS.map(([name, about]) => ({ name, description: about })),
    paths: mapped(paths, (methods, path) =>
      mapped(methods, (operation, method) =>
        completedOperation(operation, { method, path, role: roleFor(method.toUpperCase(), path) }),
      ),
    ),
    components: { ...components, responses: PROBLEM_RESPONSES },
  };
};

type Where = { readonly method: string; readonly path: string; readonly role: string };

const completedOperation = (operation: Operation, { method, path, role }: Where): Operation => {
  const name = `${method} ${path.replace(/^\/api\/v1/, "")}`;
  const notes = OPERATIONS[name] ?? {};
  const parameters = [...(operation.parameters ?? []), ...headersOf(notes)].map((one) => withExample(one, notes));
  return {
    operationId: operationIdOf(method, path),
    ...operation,
    description: [operation.description ?? notes.description, `Needs the role ${role}.`].filter(Boolean).join(" "),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...bodyWithExample(operation, notes),
    responses: {
      ...withEtag(withAnswer(operation.responses, name), notes),
      ...problemsOf(operation, method, notes),
      ...ANY_PROBLEM,
    },
    ...(notes.command === undefined ? {} : { "x-gtm-command": `gtm ${notes.command}` }),
  } as Operation;
};

/** "get /api/v1/regions/{id}" → "getRegionsById": the same as long as the address is. */
export const operationIdOf = (method: string, path: string): string => {
  const parts = path
    .replace(/^\/api\/v1/, "")
    .split("/")
    .filter((part) => part !== "");
  const words = parts.flatMap((part) =>
    part.startsWith("{") ? ["by", part.slice(1, -1)] : part.split(/[^a-zA-Z0-9]+/),
  );
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
};

const headersOf = ({ hasIfMatch, isStream }: OperationNotes): readonly Parameter[] => [
  ...(hasIfMatch === true
    ? [
        headerCalled(
          "If-Match",
          "The ETag that was read; what has changed since is left alone, and the answer is 412.",
          '"3"',
        ),
      ]
    : []),
  ...(isStream === true
    ? [headerCalled("Last-Event-ID", "The id of the last event that was seen: goes on after it.", "5f2c9a01-182")]
    : []),
];

const headerCalled = (name: string, description: string, example: string): Parameter => ({
  name,
  in: "header",
  required: false,
  description,
  schema: { type: "string" },
  example,
});

const withExample = (parameter: Parameter, { parameters = {} }: OperationNotes): Parameter => {
  const example = parameters[parameter.name];
  return example === undefined || "example" in parameter ? parameter : { ...parameter, example };
};

const bodyWithExample = ({ requestBody }: Operation, { body }: OperationNotes): Json => {
  if (requestBody === undefined || body === undefined) return {};
  return {
    requestBody: { ...requestBody, content: mapped(requestBody.content, (one) => ({ ...one, example: body })) },
  };
};

/** What an operation that can be tried answers then is beside what it answers when it is done (OpenAPI 3.1 §4.8.14.1). */
const withAnswer = (responses: Operation["responses"], name: string): Operation["responses"] => {
  const { answer, plan } = ANSWER_EXAMPLES[name] ?? {};
  if (answer === undefined) return responses;
  const shown =
    plan === undefined
      ? { example: answer }
      : { examples: { done: { summary: "Done", value: answer }, plan: { summary: "With dry_run=true", value: plan } } };
  const { 200: good, ...others } = responses;
  const content = good?.["content"] as Readonly<Record<string, Json>> | undefined;
  if (content === undefined) return responses;
  return { ...others, 200: { ...good, content: mapped(content, (one) => ({ ...one, ...shown })) } };
};

const withEtag = (responses: Operation["responses"], { hasEtag }: OperationNotes): Operation["responses"] => {
  const { 200: good, ...others } = responses;
  if (hasEtag !== true || good === undefined) return responses;
  const headers = { ETag: { description: "Send it back as If-Match.", schema: { type: "string" } } };
  return { ...others, 200: { ...good, headers } };
};

/** What each problem looks like; the first code of a status is its example. */
const PROBLEM_RESPONSES: Json = Object.fromEntries(
  (Object.keys(PROBLEMS) as ProblemCode[]).toReversed().map((code) => {
    const { status, title } = PROBLEMS[code];
    const example = problemOf(code, `${title}.`);
    const content = { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" }, example } };
    return [`Problem${status}`, { description: title, content }];
  }),
);

const ANY_PROBLEM = Object.fromEntries(
  ["4XX", "5XX"].map((range) => [
    range,
    {
      description: "A problem, told as RFC 9457 says",
      content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
    },
  ]),
);

const problemsOf = (operation: Operation, method: string, notes: OperationNotes): Operation["responses"] => {
  const { parameters = [], requestBody } = operation;
  const isChange = method !== "get" && notes.looksOnly !== true;
  const statuses = [
    ...(parameters.length > 0 || requestBody !== undefined ? [400] : []),
    ...[401, 403],
    ...(parameters.some((one) => one.in === "path") ? [404] : []),
    ...(isChange && requestBody !== undefined ? [409] : []),
    ...(notes.hasIfMatch === true ? [412] : []),
    ...(requestBody === undefined ? [] : [413, 415]),
    ...(isChange || notes.readsStore === true || notes.isStream === true ? [503] : []),
  ];
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]));
};

const mapped = <From, To>(
  record: Readonly<Record<string, From>>,
  of: (value: From, key: string) => To,
): Readonly<Record<string, To>> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, of(value, key)]));
