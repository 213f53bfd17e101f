/** One header of a request. */
import type { IncomingHttpHeaders } from "node:http";

/** @param name lower case @returns null where it is absent or empty; several of one name are joined by ", " */
export const headerIn = (headers: IncomingHttpHeaders, name: string): string | null => {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : null;
};

/** A whole number that a header claims; null where it is absent or no such number. */
export const countIn = (headers: IncomingHttpHeaders, name: string): number | null => {
  const value = headers[name];
  return typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : null;
};
