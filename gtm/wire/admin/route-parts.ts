/** Pieces that the descriptions of several routes are made of. */
import { z } from "@hono/zod-openapi";
import { RegionId } from "#shared/ids.ts";
import { Problem } from "./problem.ts";

/** Problems are thrown and answered in one place (app.ts), so a route lists them and never returns them. */
const problems = {
  description: "A problem, told as RFC 9457 says",
  content: { "application/problem+json": { schema: Problem } },
};

export const answers = <S extends z.ZodType>(schema: S, description: string) => ({
  200: { description, content: { "application/json": { schema } } },
  "4XX": problems,
  "5XX": problems,
});

export const jsonBody = <S extends z.ZodType>(schema: S) => ({
  required: true,
  content: { "application/json": { schema } },
});

export const pageOf = <S extends z.ZodType>(item: S) =>
  z.looseObject({
    items: z.array(item),
    /** Send it as `cursor` for what follows; null: that was the last page. */
    next_cursor: z.string().nullable(),
  });

export const pageQuery = z.strictObject({
  limit: z.coerce
    .number({ error: "must be a number from 1 to 500" })
    .int("must be a whole number")
    .min(1, "must be 1 or more")
    .max(500, "must be 500 or less")
    .default(50)
    .openapi({ type: "integer", minimum: 1, maximum: 500, default: 50 }),
  cursor: z.string().min(1).max(256).optional(),
});

/**
 * A schema of shared/ as a parameter here. Only schemas made after @hono/zod-openapi was loaded can be described, and who
 * loads shared/ first is chance: the pipe is made here.
 */
export const described = <S extends z.ZodType<string, string>>(schema: S) => z.string().pipe(schema);

export const regionParams = z.object({
  id: described(RegionId).openapi({ param: { name: "id", in: "path" }, type: "string", example: "eu-central" }),
});

export const BEARER = [{ bearer: [] }];
