/** Values held against the schemas of an OpenAPI 3.1 document, by Ajv and not by what made them. */
import { createRequire } from "node:module";
import type Ajv2020Class from "ajv/dist/2020.js";
import type { Description } from "#gtm/wire/admin/openapi.ts";

// Both are CommonJS, whose types say otherwise than Node does.
const require = createRequire(import.meta.url);
const Ajv2020 = require("ajv/dist/2020.js").Ajv2020 as typeof Ajv2020Class.default;
const addFormats = require("ajv-formats").default as (ajv: object) => void;

export type Schemas = {
  /**
   * Where in the value what was expected; none: it fits.
   *
   * @param place of the schema in the document, key by key
   * @throws {Error} where the document has no schema there
   */
  readonly faultsOf: (place: readonly (string | number)[], value: unknown) => readonly string[];
};

export const schemasOf = (document: Description): Schemas => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats(ajv);
  ajv.addSchema(document, "openapi");
  return {
    faultsOf: (place, value) => {
      const check = ajv.getSchema(`openapi#/${place.map(escaped).join("/")}`);
      if (check === undefined) throw new Error(`the document has nothing at ${place.join(" ")}`);
      if (check(value) === true) return [];
      return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath || "/"}: ${message}`);
    },
  };
};

/** RFC 6901 §3 within a fragment. */
const escaped = (key: string | number): string =>
  encodeURIComponent(String(key).replaceAll("~", "~0").replaceAll("/", "~1"));
