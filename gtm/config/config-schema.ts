/** The configuration's form as JSON Schema (draft 2020-12), for editors and for whoever generates configurations. */
import { z } from "zod";
import { GtmSettings } from "./schema.ts";
import { settingAt } from "./settings-table.ts";

type Node = { [key: string]: unknown };

/** Whoever reads the schema has the text before variables are put in: `${NAME}` may stand for any scalar. */
const VARIABLE = { type: "string", pattern: "\\$\\{" };

/** Made anew with each call; keys in the order of the documentation. */
export const configJsonSchema = (): Node => {
  const made = z.toJSONSchema(GtmSettings, { io: "input", target: "draft-2020-12", unrepresentable: "any" }) as Node;
  const { $schema, ...form } = told(made, "") as Node;
  return {
    $schema,
    title: "Configuration of llm-gtm",
    description: "What `gtm serve --config FILE` reads. Beyond this form `gtm check` says what does not fit together.",
    ...form,
    $defs: {
      variable: { ...VARIABLE, description: `\${NAME} or \${NAME:-default}, from the environment of the process.` },
    },
  };
};

const told = (node: unknown, at: string): unknown => {
  if (typeof node !== "object" || node === null) return node;
  const { properties, items, anyOf, oneOf, ...rest } = node as Node;
  const setting = settingAt(at);
  const form: Node = { ...withSaying(rest, setting) };
  if (isNode(properties)) {
    form["properties"] = Object.fromEntries(
      Object.entries(properties).map(([key, inner]) => [key, told(inner, at === "" ? key : `${at}.${key}`)]),
    );
  }
  if (items !== undefined) form["items"] = told(items, `${at}[]`);
  for (const [key, branches] of Object.entries({ anyOf, oneOf })) {
    if (Array.isArray(branches)) form[key] = branches.map((branch) => (setting === null ? told(branch, at) : branch));
  }
  return setting === null || !isNarrow(form) ? form : orVariable(form);
};

const withSaying = (form: Node, setting: ReturnType<typeof settingAt>): Node =>
  setting === null
    ? form
    : {
        description: `${setting.says}${setting.effect === "restart" ? " A change waits for a restart." : ""}`,
        ...form,
      };

/** Whether `${NAME}` would not fit as it is. */
const isNarrow = (form: Node): boolean =>
  form["const"] === undefined &&
  (form["type"] !== "string" || form["pattern"] !== undefined || form["enum"] !== undefined);

const orVariable = ({ description, default: otherwise, anyOf, ...form }: Node): Node => ({
  description,
  ...(otherwise === undefined ? {} : { default: otherwise }),
  anyOf: [...(Array.isArray(anyOf) ? anyOf : [form]), { $ref: "#/$defs/variable" }],
});

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value);
