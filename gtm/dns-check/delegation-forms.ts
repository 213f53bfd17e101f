/** The delegation in the forms in which parents are kept. */
import { isInZone, type Zone } from "#gtm/domain/zone.ts";
import { addressesOf, delegationRecords, zoneFileLines } from "./delegation-records.ts";

export type FormName = "bind" | "route53" | "cloudflare" | "registrar";

export type Form = {
  readonly name: FormName;
  readonly title: string;
  /** What to do with it, in sentences. */
  readonly how: string;
  /** What is pasted, and nothing else; lines are ended. */
  readonly text: string;
};

export const FORM_NAMES: readonly FormName[] = ["bind", "route53", "cloudflare", "registrar"];

type Delegated = Pick<Zone, "name" | "ns">;

export const delegationForm = (form: FormName, zone: Delegated, ttlSeconds: number): Form => {
  const parent = parentName(zone.name);
  switch (form) {
    case "bind":
      return {
        name: form,
        title: "Zone file (BIND, NSD, Knot)",
        how: `Add these lines to the file of ${parent}, raise its serial, and reload it.${glueNote(zone)}`,
        text: `${zoneFileLines(delegationRecords(zone, ttlSeconds)).join("\n")}\n`,
      };
    case "route53":
      return {
        name: form,
        title: "Route 53 (change batch)",
        how: `Save it as delegation.json, then: aws route53 change-resource-record-sets --hosted-zone-id ID --change-batch file://delegation.json (ID is that of ${parent}).${glueNote(zone)}`,
        text: changeBatch(zone, ttlSeconds),
      };
    case "cloudflare":
      return {
        name: form,
        title: "Cloudflare (API, records in one batch)",
        how: `Save it as delegation.json, then: curl https://api.cloudflare.com/client/v4/zones/ID/dns_records/batch -H "Authorization: Bearer $TOKEN" --json @delegation.json (ID is that of ${parent}). By hand: the same records, the addresses "DNS only", since Cloudflare's proxy does not speak DNS.${glueNote(zone)}`,
        text: batch(zone, ttlSeconds),
      };
    case "registrar":
      return {
        name: form,
        title: "Form of a registrar",
        how: `For a zone that is registered itself. Give the name servers; those with addresses are made known first, as "host", "glue" or "child name server".`,
        text: registrarTable(zone),
      };
  }
};

/** The zone above, as far as the name tells: it may be cut further up. */
const parentName = (zone: string): string => zone.slice(zone.indexOf(".") + 1);

const glueNote = ({ name, ns }: Delegated): string =>
  ns.some((server) => isInZone(server.name, name))
    ? ""
    : ` No addresses are among them: every name server is outside ${name}, and its own zone answers for it.`;

/** A record a line. */
const lines = (head: string, records: readonly object[]): string =>
  `{${head}[\n${records.map((one) => `  ${JSON.stringify(one)}`).join(",\n")}\n]}\n`;

const changeBatch = (zone: Delegated, ttlSeconds: number): string =>
  lines(
    `"Comment":"Delegation of ${zone.name}","Changes":`,
    delegationRecords(zone, ttlSeconds).map(({ name, type, ttlSeconds: TTL, values }) => ({
      Action: "UPSERT",
      ResourceRecordSet: {
        Name: `${name}.`,
        Type: type,
        TTL,
        ResourceRecords: values.map((Value) => ({ Value: type === "NS" ? `${Value}.` : Value })),
      },
    })),
  );

/** Cloudflare has records, not sets; NS has no setting for its proxy. */
const batch = (zone: Delegated, ttlSeconds: number): string =>
  lines(
    `"posts":`,
    delegationRecords(zone, ttlSeconds).flatMap(({ name, type, ttlSeconds: ttl, values }) =>
      values.map((content) => ({ type, name, ttl, content, ...(type === "NS" ? {} : { proxied: false }) })),
    ),
  );

const registrarTable = (zone: Delegated): string => {
  const rows = zone.ns.map((server) => {
    const isInside = isInZone(server.name, zone.name);
    const cell = (type: "A" | "AAAA"): string => (isInside ? addressesOf(server, type).join(", ") || "-" : "-");
    return [server.name, cell("A"), cell("AAAA")] as const;
  });
  const all = [["name server", "IPv4", "IPv6"] as const, ...rows];
  const widths = [0, 1].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) => `${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")}\n`).join("");
};
