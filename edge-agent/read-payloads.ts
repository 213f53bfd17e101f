/** One answer as what it holds: a metrics page, JSON, or the reason why it is neither. */
import type { Further } from "./engines/engine.ts";
import { EMPTY_PAGE, EVERYTHING, type Fault, type Page, type PageWish, parseOctets, WHOLE_PAGE } from "./exposition.ts";
import { NO_PAGE_MEMORY, type PageMemory, parseAlike } from "./exposition-layout.ts";
import type { Fetched } from "./ports.ts";

export type PageIn = {
  readonly page: Page | null;
  readonly faults: readonly Fault[];
  /** For the next answer from there. */
  readonly memory: PageMemory;
};

/** How a page is read again and again: which names anybody looks at, and what is remembered of the last one. */
export type PageHabit = { readonly isRead: PageWish["isRead"]; readonly memory: PageMemory };

/** A page that came half is no page. Faults inside a whole page are told by who reads it. */
export const pageIn = (fetched: Fetched, habit: PageHabit | null = null): PageIn => {
  const code = whyNot(fetched);
  const memory = habit?.memory ?? NO_PAGE_MEMORY;
  if (fetched.kind === "failed" || code !== null) {
    return { page: null, faults: [{ field: WHOLE_PAGE, code: code ?? "" }], memory };
  }
  const isOpenMetrics = OPEN_METRICS.test(fetched.contentType);
  const read =
    habit === null
      ? { page: parseOctets(fetched.octets, { ...EVERYTHING, isOpenMetrics }, null), memory }
      : parseAlike(fetched.octets, { isRead: habit.isRead, isOpenMetrics }, memory);
  const none = whyNoPage(fetched.octets, read.page);
  return none === null
    ? { page: read.page, faults: [], memory: read.memory }
    : { page: null, faults: [{ field: WHOLE_PAGE, code: none }], memory };
};

/** A page without a sample says nothing, also not that its counters began anew. */
const whyNoPage = (octets: Buffer, { samples, faults }: Page): string | null => {
  if (faults.some(({ code }) => code === "half-sent")) return "half-sent";
  if (samples.size > 0) return null;
  // A login page, or a proxy's error with status 200.
  if (/^\uFEFF?\s*</.test(octets.toString("utf8", 0, MOST_BLANKS))) return "html";
  return faults.length === 0 ? "empty" : null;
};

const OPEN_METRICS = /^\s*application\/openmetrics-text/i;

/** Without reading it. */
export const isPage = (fetched: Fetched | undefined): boolean =>
  fetched?.kind === "answered" && fetched.status === 200 && !isJson(fetched.octets);

/** @param pages `unread`: what is a page is an empty one */
export const furtherIn = (fetched: Fetched, pages: "read" | "unread"): Further => {
  if (fetched.kind === "failed" || fetched.status !== 200) return { kind: "unknown", code: whyNot(fetched) ?? "" };
  if (isJson(fetched.octets)) return jsonIn(fetched.octets);
  if (pages === "unread") return { kind: "page", page: EMPTY_PAGE };
  const { page, faults } = pageIn(fetched);
  return page === null ? { kind: "unknown", code: faults[0]?.code ?? "half-sent" } : { kind: "page", page };
};

export const jsonIn = (octets: Buffer): Further => {
  try {
    return { kind: "json", json: JSON.parse(octets.toString().replace(/^\uFEFF/, "")) as unknown };
  } catch {
    return { kind: "unknown", code: "not-json" };
  }
};

/** @returns the fault's code; null: it is a whole answer with status 200 */
export const whyNot = (fetched: Fetched): string | null => {
  if (fetched.kind === "failed") return fetched.code;
  // llama.cpp's words; with them nothing is wrong.
  if (fetched.status === 503 && fetched.octets.includes('"Loading model"')) return "loading";
  return fetched.status === 200 ? null : `http-${fetched.status}`;
};

/** Where it begins with a bracket, after blanks; no metrics page does. */
const isJson = (octets: Buffer): boolean => /^\uFEFF?\s*[[{]/.test(octets.toString("utf8", 0, MOST_BLANKS));

const MOST_BLANKS = 256;
