/** Where one is on the page: a screen, what it is about, and its filters, all of it in the address. */
import { useEffect, useState } from "preact/hooks";

export type Place = {
  /** "" is the overview. */
  readonly screen: string;
  /** What follows the screen, such as a region or a decision; "": nothing. */
  readonly subject: string;
  readonly filters: URLSearchParams;
};

export const placeOf = (hash: string): Place => {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [screen = "", ...rest] = path.split("/");
  return { screen, subject: decoded(rest.join("/")), filters: new URLSearchParams(query) };
};

/** An address that somebody typed may hold anything. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

export const hrefOf = (screen: string, subject = "", filters: Readonly<Record<string, string>> = {}): string => {
  const set = Object.entries(filters).filter(([, value]) => value !== "");
  const query = set.length === 0 ? "" : `?${new URLSearchParams(set)}`;
  return `#/${screen}${subject === "" ? "" : `/${encodeURIComponent(subject)}`}${query}`;
};

export const usePlace = (): Place => {
  const [place, setPlace] = useState(() => placeOf(location.hash));
  useEffect(() => {
    const follow = (): void => setPlace(placeOf(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return place;
};
