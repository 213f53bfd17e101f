/** One operation of the API: what it takes, what it answers, and the lines that call it. */
import type { Description, Parameter } from "#gtm/wire/admin/openapi.ts";
import { CodeLine } from "./code-line.tsx";
import { DataTable } from "./data-table.tsx";
import { curlOf, type Exemplified, exampleOf, examplesIn, type Named } from "./reference-operations.ts";
import { SchemaFields, typeText } from "./reference-schema.tsx";

type Wish = { readonly named: Named; readonly description: Description };
type Schema = Readonly<Record<string, unknown>>;

export const OperationReference = ({ named, description }: Wish) => {
  const { method, path, operation, command } = named;
  const { parameters = [], requestBody, responses } = operation;
  const body = Object.values(requestBody?.content ?? {})[0];
  return (
    <>
      <h3>
        {method.toUpperCase()} {path}
      </h3>
      <p class="explanation">{operation.summary}</p>
      <p>{operation.description}</p>
      {command !== null && <CodeLine text={command} what="command" />}
      <CodeLine text={curlOf(named, location.origin)} what="request by curl" />
      {parameters.length > 0 && <Parameters all={parameters} />}
      {body !== undefined && (
        <>
          <h4>Body</h4>
          <SchemaFields schema={body["schema"] as Schema} description={description} caption="Fields of the body" />
          <CodeLine text={JSON.stringify(body["example"])} what="example of the body" />
        </>
      )}
      <h4>Answer</h4>
      <Good response={responses["200"] ?? {}} description={description} />
      <Problems responses={responses} description={description} />
    </>
  );
};

const Parameters = ({ all }: { readonly all: readonly Parameter[] }) => (
  <DataTable
    caption="Parameters"
    rows={all}
    keyOf={(one) => `${one.in} ${one.name}`}
    columns={[
      { title: "Name", cell: ({ name }) => <code>{name}</code> },
      { title: "In", cell: (one) => one.in },
      { title: "Type", cell: ({ schema }) => typeText(schema ?? {}) },
      { title: "Needed", cell: (one) => (one["required"] === true ? "yes" : "no") },
      { title: "Example", cell: (one) => exampleOf(one) ?? "" },
      { title: "What it is", cell: (one) => String(one["description"] ?? "") },
    ]}
  />
);

type Content = Readonly<Record<string, { readonly schema?: Schema } & Exemplified>>;

const Good = ({ response, description }: { readonly response: Schema; readonly description: Description }) => {
  const [type = "", content] = Object.entries((response["content"] ?? {}) as Content)[0] ?? [];
  return (
    <>
      <p>
        200: {String(response["description"] ?? "")} <small>{type}</small>
      </p>
      <SchemaFields schema={content?.schema ?? {}} description={description} caption="Fields of the answer" />
      {examplesIn(content ?? {}).map(({ title, value }) => (
        <Example key={title} title={title} value={value} />
      ))}
    </>
  );
};

const Example = ({ title, value }: { readonly title: string; readonly value: unknown }) => (
  <details>
    <summary>{title}</summary>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
    <section class="scroll" tabIndex={0} aria-label={title}>
      <pre>{JSON.stringify(value, null, 2)}</pre>
    </section>
  </details>
);

/** Each names a response of the components, whose description is the problem's title. */
const Problems = ({
  responses,
  description,
}: { readonly responses: Named["operation"]["responses"] } & Pick<Wish, "description">) => {
  const known = (description.components?.["responses"] ?? {}) as Readonly<Record<string, Schema>>;
  const rows = Object.entries(responses).filter(([status]) => /^[45][0-9]{2}$/.test(status));
  return (
    <DataTable
      caption="Problems (RFC 9457), beside others that any request may meet"
      rows={rows}
      keyOf={([status]) => status}
      columns={[
        { title: "Status", cell: ([status]) => status },
        {
          title: "Says",
          cell: ([status, response]) =>
            String(known[`Problem${status}`]?.["description"] ?? response["description"] ?? ""),
        },
      ]}
    />
  );
};
