/** One answer as what it holds: a metrics page, JSON, or the reason why it is neither. */
import type { Further } from "./engines/engine.ts";
import { EMPTY_PAGE, type Fault, type Page, parseExposition, WHOLE_PAGE } from "./exposition.ts";
import type { Fetched } from "./ports.ts";

/** A page that came half is no page. Faults inside a whole page are told by who reads it. */
export const pageIn = (
  fetched: Fetched,
  isRead?: (name: string) => boolean,
): { readonly page: Page | null; readonly faults: readonly Fault[] } => {
  const code = whyNot(fetched);
  if (fetched.kind === "failed" || code !== null)
    return { page: null, faults: [{ field: WHOLE_PAGE, code: code ?? "" }] };
  const page = parseExposition(fetched.text, fetched.contentType.startsWith("application/openmetrics-text"), isRead);
  const isHalf = page.faults.some((fault) => fault.code === "half-sent");
  return isHalf ? { page: null, faults: page.faults } : { page, faults: [] };
};

/** Without reading it. */
export const isPage = (fetched: Fetched | undefined): boolean =>
  fetched?.kind === "answered" && fetched.status === 200 && !isJsonText(fetched.text);

/** @param pages `unread`: what is a page is an empty one */
export const furtherIn = (fetched: Fetched, pages: "read" | "unread"): Further => {
  if (fetched.kind === "failed" || fetched.status !== 200) return { kind: "unknown", code: whyNot(fetched) ?? "" };
  if (isJsonText(fetched.text)) return jsonIn(fetched.text);
  if (pages === "unread") return { kind: "page", page: EMPTY_PAGE };
  const { page, faults } = pageIn(fetched);
  return page === null ? { kind: "unknown", code: faults[0]?.code ?? "half-sent" } : { kind: "page", page };
};

export const jsonIn = (text: string): Further => {
  try {
    return { kind: "json", json: JSON.parse(text) as unknown };
  } catch {
    return { kind: "unknown", code: "not-json" };
  }
};

/** @returns the fault's code; null: it is a whole answer with status 200 */
export const whyNot = (fetched: Fetched): string | null => {
  if (fetched.kind === "failed") return fetched.code;
  // llama.cpp's words; with them nothing is wrong.
  if (fetched.status === 503 && fetched.text.includes('"Loading model"')) return "loading";
  return fetched.status === 200 ? null : `http-${fetched.status}`;
};

const isJsonText = (text: string): boolean => /^\s*[[{]/.test(text);
