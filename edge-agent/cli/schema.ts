/** `edge-agent schema`: the form of a configuration for editors, `# yaml-language-server: $schema=edge-agent.schema.json`. */
import { z } from "zod";
import { isNarrow, isSchemaNode, orVariable, type SchemaNode, VARIABLE_DEFS } from "#shared/schema-variable.ts";
import { AgentConfig } from "../config.ts";
import { GatewayConfig } from "../gateway/config.ts";
import type { CliIo } from "./io.ts";

const OF = {
  agent: {
    schema: AgentConfig,
    title: "Configuration of the llm-gtm edge agent",
    description:
      "What `edge-agent run --config FILE` reads. Beyond this form `edge-agent check` says what does not fit together.",
  },
  gateway: {
    schema: GatewayConfig,
    title: "Configuration of the llm-gtm regional gateway",
    description:
      "What `edge-agent gateway --config FILE` reads. Beyond this form `edge-agent gateway check` says what does not fit together.",
  },
} as const;

export const SCHEMAS = ["agent", "gateway"] as const;
export type SchemaOf = (typeof SCHEMAS)[number];

export const printSchema = (of: SchemaOf, io: Pick<CliIo, "print">): void => {
  io.print(`${JSON.stringify(jsonSchemaOf(of), null, 2)}\n`);
};

/** JSON Schema, draft 2020-12; made anew with each call. */
export const jsonSchemaOf = (of: SchemaOf): SchemaNode => {
  const { schema, title, description } = OF[of];
  const made = z.toJSONSchema(schema, { io: "input", target: "draft-2020-12", unrepresentable: "any" }) as SchemaNode;
  const { $schema, $defs, ...form } = withVariables(made) as SchemaNode;
  return { $schema, title, description, ...form, $defs: { ...(isSchemaNode($defs) ? $defs : {}), ...VARIABLE_DEFS } };
};

const withVariables = (node: unknown): unknown => {
  if (!isSchemaNode(node)) return node;
  const { properties, items, anyOf, oneOf, $defs, ...rest } = node;
  const branches = [anyOf, oneOf].flatMap((some) => (Array.isArray(some) ? (some as readonly unknown[]) : []));
  const isLeaf = properties === undefined && items === undefined && branches.every(isScalar);
  if (isLeaf && rest["$ref"] === undefined && isNarrow(node)) return orVariable(node);
  const form: SchemaNode = { ...rest };
  if (isSchemaNode(properties)) form["properties"] = mapped(properties);
  if (items !== undefined) form["items"] = withVariables(items);
  for (const [key, some] of Object.entries({ anyOf, oneOf }))
    if (Array.isArray(some)) form[key] = some.map(withVariables);
  if (isSchemaNode($defs)) form["$defs"] = mapped($defs);
  return form;
};

const mapped = (nodes: SchemaNode): SchemaNode =>
  Object.fromEntries(Object.entries(nodes).map(([key, inner]) => [key, withVariables(inner)]));

const isScalar = (node: unknown): boolean =>
  isSchemaNode(node) && ["string", "number", "integer", "boolean", "null"].includes(String(node["type"]));
