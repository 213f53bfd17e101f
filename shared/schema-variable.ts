/** JSON Schemas of configurations, for editors: whoever reads one has the text before variables are put in. */

export type SchemaNode = { [key: string]: unknown };

/** `${NAME}` may stand for any scalar. */
const VARIABLE = { type: "string", pattern: "\\$\\{" };

/** What `orVariable` refers to. */
export const VARIABLE_DEFS = {
  variable: { ...VARIABLE, description: `\${NAME} or \${NAME:-default}, from the environment of the process.` },
};

/** Whether `${NAME}` would not fit as it is. */
export const isNarrow = (form: SchemaNode): boolean =>
  form["const"] === undefined &&
  (form["type"] !== "string" || form["pattern"] !== undefined || form["enum"] !== undefined);

export const orVariable = ({ description, default: otherwise, anyOf, ...form }: SchemaNode): SchemaNode => ({
  ...(description === undefined ? {} : { description }),
  ...(otherwise === undefined ? {} : { default: otherwise }),
  anyOf: [...(Array.isArray(anyOf) ? anyOf : [form]), { $ref: "#/$defs/variable" }],
});

export const isSchemaNode = (value: unknown): value is SchemaNode =>
  typeof value === "object" && value !== null && !Array.isArray(value);
