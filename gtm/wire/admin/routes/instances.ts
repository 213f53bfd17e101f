/** The GTMs on one store, as this one sees them: are they there, configured alike, and of one mind? */
import { createRoute, z } from "@hono/zod-openapi";
import { type Context, createRouter, type Router } from "../environment.ts";
import { answers, BEARER } from "../route-parts.ts";

const fingerprints = z.record(z.string(), z.string());
const Disagreement = z.looseObject({
  question: z.string(),
  /** null: no region serves. */
  here: z.string().nullable(),
  there: z.string().nullable(),
  forMs: z.number(),
});
export const Instances = z
  .looseObject({
    instance: z.string(),
    version: z.string(),
    boot: z.string(),
    config: fingerprints,
    others: z.array(
      z.looseObject({
        instance: z.string(),
        lastSeenMsAgo: z.number(),
        version: z.string().nullable(),
        config: fingerprints.nullable(),
        /** Parts of the configuration that are not as here; answers are not compared then. */
        configDiffers: z.array(z.string()),
        /** Whether both rest on the same orders and reports, so that their answers can be compared. */
        isSameState: z.boolean(),
        disagreements: z.array(Disagreement),
      }),
    ),
  })
  .openapi("Instances");
export type Instances = z.infer<typeof Instances>;

export const instanceRoutes = ({ ports }: Context): Router =>
  createRouter().openapi(
    createRoute({
      method: "get",
      path: "/instances",
      tags: ["status"],
      summary: "The GTMs on this store, how each is configured, and where they answer otherwise",
      security: BEARER,
      responses: answers(Instances, "This instance and every other that was seen within the last 5 s"),
    }),
    (c) => {
      const others = ports.instances.others().map(({ id, heardMsAgo, version, config, disagreements, ...rest }) => ({
        instance: id,
        lastSeenMsAgo: Math.round(heardMsAgo),
        version: version === "" ? null : version,
        config: config === null ? null : { ...config },
        configDiffers: [...rest.configDiffers],
        isSameState: rest.isSameState,
        disagreements: disagreements.map((one) => ({ ...one, forMs: Math.round(one.forMs) })),
      }));
      const { boot, config } = ports.instances.own();
      return c.json({ instance: ports.instance, version: ports.version, boot, config: { ...config }, others }, 200);
    },
  );
