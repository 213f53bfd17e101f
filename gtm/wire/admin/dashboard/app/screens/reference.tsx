/** The admin API's reference, made of its own description: routes by tag, or one of them with all that it takes and answers. */
import type { Description } from "#gtm/wire/admin/openapi.ts";
import { DataTable } from "../data-table.tsx";
import { hrefOf } from "../place.ts";
import { OperationReference } from "../reference-operation.tsx";
import { type Named, operationsOf } from "../reference-operations.ts";
import { Empty, WithState } from "../state-box.tsx";
import { useApi } from "../use-api.ts";

export const ReferenceScreen = ({ id }: { readonly id: string }) => {
  const description = useApi<Description>("/openapi.json", null);
  return (
    <>
      <h2>API reference</h2>
      <WithState known={description} what="API's description">
        {(body) => (id === "" ? <All description={body} /> : <One description={body} id={id} />)}
      </WithState>
    </>
  );
};

const One = ({ description, id }: { readonly description: Description; readonly id: string }) => {
  const named = operationsOf(description).find((one) => one.id === id);
  return (
    <>
      <p>
        <a href={hrefOf("reference")}>All operations</a>
      </p>
      {named === undefined ? (
        <Empty>There is no operation called {id}.</Empty>
      ) : (
        <OperationReference named={named} description={description} />
      )}
    </>
  );
};

const All = ({ description }: { readonly description: Description }) => {
  const tags = (description["tags"] ?? []) as readonly { readonly name: string; readonly description: string }[];
  const all = operationsOf(description);
  return (
    <>
      <p>
        Everything is JSON over HTTP, below <code>/api/v1</code>, with <code>Authorization: Bearer TOKEN</code> where
        tokens are configured. For programs: <a href="/api/v1/openapi.json">openapi.json</a> (OpenAPI 3.1).
      </p>
      {tags.map(({ name, description: about }) => (
        <section key={name}>
          <h3>{name}</h3>
          <p>{about}</p>
          <Operations tag={name} all={all.filter(({ operation }) => operation.tags?.includes(name))} />
        </section>
      ))}
    </>
  );
};

const Operations = ({ tag, all }: { readonly tag: string; readonly all: readonly Named[] }) => (
  <DataTable
    caption={`Operations of ${tag}`}
    rows={all}
    keyOf={({ id }) => id}
    columns={[
      {
        title: "Operation",
        cell: ({ id, method, path }) => (
          <a href={hrefOf("reference", id)}>
            <strong>{method.toUpperCase()}</strong> {path}
          </a>
        ),
      },
      { title: "What it is for", cell: ({ operation }) => operation.summary ?? "" },
      { title: "Command", cell: ({ command }) => (command === null ? "" : <code>{command}</code>) },
    ]}
  />
);
