/** A schema of the API's description as a table of fields; what lies deeper is opened where somebody wants it. */
import type { Description } from "#gtm/wire/admin/openapi.ts";
import { DataTable } from "./data-table.tsx";

type Schema = Readonly<Record<string, unknown>>;
type Wish = { readonly schema: Schema; readonly description: Description; readonly caption: string };

export const SchemaFields = ({ schema, description, caption }: Wish) => {
  const found = resolved(schema, description);
  const alternatives = (found["anyOf"] ?? found["oneOf"]) as readonly Schema[] | undefined;
  if (alternatives !== undefined) {
    return (
      <>
        {alternatives.map((one, at) => (
          <SchemaFields
            key={typeText(one)}
            schema={one}
            description={description}
            caption={`${caption}${at === 0 ? "" : ", or"}: ${typeText(one)}`}
          />
        ))}
      </>
    );
  }
  if (found["type"] === "array") {
    const items = (found["items"] ?? {}) as Schema;
    return <SchemaFields schema={items} description={description} caption={`${caption}, each of the list`} />;
  }
  const fields = Object.entries((found["properties"] ?? {}) as Readonly<Record<string, Schema>>);
  if (fields.length === 0) return <p class="note">{typeText(schema)}</p>;
  const needed = new Set((found["required"] ?? []) as readonly string[]);
  return (
    <DataTable
      caption={caption}
      rows={fields}
      keyOf={([name]) => name}
      columns={[
        { title: "Field", cell: ([name]) => <code>{name}</code> },
        { title: "Type", cell: ([name, one]) => <Type name={name} schema={one} description={description} /> },
        { title: "Always there", cell: ([name]) => (needed.has(name) ? "yes" : "no") },
        ...(fields.some(([, one]) => "description" in one) ? [WHAT_IT_IS] : []),
      ]}
    />
  );
};

const WHAT_IT_IS = {
  title: "What it is",
  cell: ([, one]: readonly [string, Schema]) => String(one["description"] ?? ""),
};

const Type = ({ name, schema, description }: { readonly name: string } & Omit<Wish, "caption">) => {
  const inner = schema["type"] === "array" ? ((schema["items"] ?? {}) as Schema) : schema;
  const isDeep = "properties" in resolved(inner, description);
  if (!isDeep) return <>{typeText(schema)}</>;
  return (
    <details>
      <summary>{typeText(schema)}</summary>
      <SchemaFields schema={inner} description={description} caption={`Fields of ${name}`} />
    </details>
  );
};

/** What a reference leads to; a schema that is none is itself. */
const resolved = (schema: Schema, description: Description): Schema => {
  const name = refName(schema);
  if (name === null) return schema;
  const schemas = (description.components?.["schemas"] ?? {}) as Readonly<Record<string, Schema>>;
  return schemas[name] ?? {};
};

const refName = (schema: Schema): string | null => {
  const ref = schema["$ref"];
  return typeof ref === "string" ? (ref.split("/").at(-1) ?? null) : null;
};

/** "Region", "list of Cost", "drain-new | drain-all", "integer from 1 to 500", "text or null" */
export const typeText = (schema: Schema): string => {
  const name = refName(schema);
  if (name !== null) return name;
  const alternatives = (schema["anyOf"] ?? schema["oneOf"]) as readonly Schema[] | undefined;
  if (alternatives !== undefined) return alternatives.map(typeText).join(" or ");
  if ("const" in schema) return JSON.stringify(schema["const"]);
  if (Array.isArray(schema["enum"])) return schema["enum"].map(String).join(" | ");
  const types = [schema["type"]].flat().map((type) => (type === "string" ? "text" : String(type ?? "anything")));
  if (types[0] === "array") return `list of ${typeText((schema["items"] ?? {}) as Schema)}`;
  return `${types.join(" or ")}${boundsText(schema)}`;
};

const boundsText = ({ minimum, maximum, maxLength }: Schema): string => {
  if (typeof maxLength === "number") return `, at most ${maxLength} characters`;
  if (typeof minimum === "number" && typeof maximum === "number") return ` from ${minimum} to ${maximum}`;
  if (typeof minimum === "number") return `, ${minimum} or more`;
  return typeof maximum === "number" ? `, ${maximum} or less` : "";
};
