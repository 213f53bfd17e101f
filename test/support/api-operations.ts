/** Every operation that the admin API's own description lists, for tests that must not miss one. */
import type { RunningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

export type ApiOperation = {
  /** In upper case. */
  readonly method: string;
  /** As the description has it, /api/v1 included. */
  readonly path: string;
};

export const operationsOf = async (admin: RunningAdmin, token?: string): Promise<readonly ApiOperation[]> => {
  const { body } = await admin.ask("GET", "/openapi.json", token === undefined ? {} : { token });
  const paths = Object.entries(body.paths as Readonly<Record<string, object>>);
  return [
    ...paths.flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
    ),
    // It does not describe itself.
    { method: "GET", path: "/api/v1/openapi.json" },
  ];
};
