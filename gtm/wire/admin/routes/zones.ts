/** The zones: which names they answer and how, what the parent has to hold, and whether it does. */
import { createRoute, z } from "@hono/zod-openapi";
import { type Context, createRouter, type Router } from "../environment.ts";
import type { AdminPorts } from "../ports.ts";
import { refuse } from "../problem.ts";
import { answers, BEARER, jsonBody, pageOf, pageQuery } from "../route-parts.ts";
import { acmeRecords, recordViews, ZoneRecordView } from "../zone-records.ts";

const CheckView = z
  .looseObject({
    at: z.string(),
    ageMs: z.number(),
    tookMs: z.number(),
    problems: z.int(),
    findings: z.array(
      z.looseObject({
        /** `parent zone`, `name servers`, `agreement`. */
        subject: z.string(),
        id: z.string(),
        /** `problem`, `warning`, `unknown` or `ok`. */
        severity: z.string(),
        what: z.string(),
        /** The line that mends it; null: nothing is to be done. */
        remedy: z.string().nullable(),
      }),
    ),
  })
  .openapi("DelegationCheck");

export const ZoneView = z
  .looseObject({
    name: z.string(),
    serial: z.number(),
    rname: z.string(),
    nameServers: z.array(z.looseObject({ name: z.string(), ipv4: z.array(z.string()), ipv6: z.array(z.string()) })),
    /** How many record sets there are, by kind. */
    records: z.record(z.string(), z.int()),
    /** Of what is steered, seconds: while all is steady, and while something is about to change. */
    ttls: z.looseObject({ steady: z.number(), unsettled: z.number() }),
    /** null: none was made since this GTM started. */
    lastCheck: CheckView.nullable(),
  })
  .openapi("Zone");
export type ZoneView = z.infer<typeof ZoneView>;

export const DelegationView = z
  .looseObject({
    zone: z.string(),
    /** The same records in the forms in which parents are kept. */
    forms: z.array(z.looseObject({ name: z.string(), title: z.string(), how: z.string(), text: z.string() })),
    isChecking: z.boolean(),
    check: CheckView.nullable(),
  })
  .openapi("Delegation");
export type DelegationView = z.infer<typeof DelegationView>;

const zoneParams = z.object({
  zone: z
    .string()
    .max(255)
    .openapi({ param: { name: "zone", in: "path" }, example: "llm.example.com" }),
});
const recordsQuery = pageQuery.extend({
  kind: z.string().max(16).optional(),
  name: z.string().max(255).optional().openapi({ description: "Only names that contain it" }),
});

export const zoneRoutes = ({ ports, clock }: Context): Router => {
  const checkOf = (zone: string) => checkView(ports.zones.checked(zone), clock.epochMs());
  const delegationOf = (zone: string): DelegationView => {
    const forms = ports.zones.delegation(zone);
    if (forms === null) throw noZone(ports, zone);
    const isChecking = ports.zones.isChecking(zone);
    return { zone, forms: forms.map((form) => ({ ...form })), isChecking, check: checkOf(zone) };
  };
  return createRouter()
    .openapi(
      createRoute({
        method: "get",
        path: "/zones",
        tags: ["zones"],
        summary: "The zones that this GTM answers with authority",
        security: BEARER,
        responses: answers(pageOf(ZoneView), "All zones"),
      }),
      (c) => {
        const { ttlSteadySeconds: steady, ttlUnsettledSeconds: unsettled } = ports.policy;
        const items = ports.zones.zones().map(({ nameServers, ...zone }) => ({
          ...zone,
          nameServers: nameServers.map(({ name, ipv4, ipv6 }) => ({ name, ipv4: [...ipv4], ipv6: [...ipv6] })),
          records: countsOf(recordsOf(ports, zone.name)),
          ttls: { steady, unsettled },
          lastCheck: checkOf(zone.name),
        }));
        return c.json({ items, next_cursor: null }, 200);
      },
    )
    .openapi(
      createRoute({
        method: "get",
        path: "/zones/{zone}/records",
        tags: ["zones"],
        summary: "Every name that the zone answers: kind, type, TTL, and the present answer or how it is decided",
        security: BEARER,
        request: { params: zoneParams, query: recordsQuery },
        responses: answers(pageOf(ZoneRecordView), "A page of record sets, in the order of names"),
      }),
      (c) => {
        const { limit, cursor, kind, name } = c.req.valid("query");
        const all = recordsOf(ports, c.req.valid("param").zone).filter(
          (one) => (kind ?? one.kind) === one.kind && one.name.includes(name?.toLowerCase() ?? ""),
        );
        // The cursor is the last one of the page before.
        const start = cursor === undefined ? 0 : all.findIndex((one) => keyOf(one) === cursor) + 1;
        const page = all.slice(start, start + limit);
        const last = page.at(-1);
        const isMore = start + limit < all.length && last !== undefined;
        return c.json({ items: [...recordViews(page, ports)], next_cursor: isMore ? keyOf(last) : null }, 200);
      },
    )
    .openapi(
      createRoute({
        method: "get",
        path: "/zones/{zone}/delegation",
        tags: ["zones"],
        summary: "What to paste at the parent zone, and what the newest check of it found",
        security: BEARER,
        request: { params: zoneParams },
        responses: answers(DelegationView, "The lines in several forms, and the findings"),
      }),
      (c) => c.json(delegationOf(c.req.valid("param").zone), 200),
    )
    .openapi(
      createRoute({
        method: "post",
        path: "/zones/{zone}/delegation/check",
        tags: ["zones"],
        summary: "Ask the parent's servers and the zone's own, one check at a time; within 15 s",
        security: BEARER,
        request: { params: zoneParams, body: jsonBody(z.strictObject({})) },
        responses: answers(DelegationView, "What it found, each fault with the line that mends it"),
      }),
      async (c) => {
        const { zone } = c.req.valid("param");
        delegationOf(zone);
        await ports.zones.check(zone);
        return c.json(delegationOf(zone), 200);
      },
    );
};

/** @throws {ProblemError} 404 naming the zones there are */
const recordsOf = (ports: AdminPorts, zone: string) => {
  const records = ports.zones.records(zone);
  if (records === null) throw noZone(ports, zone);
  return [...records, ...acmeRecords(ports.acme.list(), zone)];
};

const noZone = ({ zones }: AdminPorts, zone: string) => {
  const names = zones.zones().map(({ name }) => name);
  return refuse("not-found", `There is no zone ${zone}; there is ${names.join(", ")}.`);
};

const keyOf = ({ name, type, kind }: { readonly name: string; readonly type: string; readonly kind: string }): string =>
  `${name} ${type} ${kind}`;

const countsOf = (records: readonly { readonly kind: string }[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(records, ({ kind }) => kind)].map(([kind, ones]) => [kind, ones.length]));

const checkView = (
  checked: ReturnType<AdminPorts["zones"]["checked"]>,
  nowMs: number,
): z.infer<typeof CheckView> | null =>
  checked === null
    ? null
    : {
        at: new Date(checked.atMs).toISOString(),
        ageMs: Math.max(0, nowMs - checked.atMs - checked.tookMs),
        tookMs: checked.tookMs,
        problems: checked.findings.filter(({ severity }) => severity === "problem").length,
        findings: checked.findings.map((finding) => ({ ...finding })),
      };
