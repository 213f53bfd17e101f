/** The configuration's form as JSON Schema (draft 2020-12), for editors and for whoever generates configurations. */
import { z } from "zod";
import { isNarrow, isSchemaNode, orVariable, type SchemaNode, VARIABLE_DEFS } from "#shared/schema-variable.ts";
import { GtmSettings } from "./schema.ts";
import { settingAt } from "./settings-table.ts";

type Node = SchemaNode;

/** Made anew with each call; keys in the order of the documentation. */
export const configJsonSchema = (): Node => {
  const made = z.toJSONSchema(GtmSettings, { io: "input", target: "draft-2020-12", unrepresentable: "any" }) as Node;
  const { $schema, ...form } = told(made, "") as Node;
  return {
    $schema,
    title: "Configuration of llm-gtm",
    description: "What `gtm serve --config FILE` reads. Beyond this form `gtm check` says what does not fit together.",
    ...form,
    $defs: VARIABLE_DEFS,
  };
};

const told = (node: unknown, at: string): unknown => {
  if (typeof node !== "object" || node === null) return node;
  const { properties, items, anyOf, oneOf, ...rest } = node as Node;
  const setting = settingAt(at);
  const form: Node = { ...withSaying(rest, setting) };
  if (isSchemaNode(properties)) {
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
