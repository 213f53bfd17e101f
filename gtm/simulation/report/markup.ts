/** HTML and SVG as text: escaped, rounded, joined. */

export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

type Attributes = Readonly<Record<string, string | number>>;

/** @param content markup, escaped already */
export const element = (name: string, attributes: Attributes, content = ""): string => {
  const written = Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${typeof value === "number" ? coordinate(value) : escaped(value)}"`)
    .join("");
  return `<${name}${written}>${content}</${name}>`;
};

/** A tenth of a unit is finer than a screen. */
export const coordinate = (value: number): string => String(Number(value.toFixed(1)));

export type Point = readonly [x: number, y: number];

export const path = (points: readonly Point[], attributes: Attributes, title: string): string =>
  element(
    "path",
    {
      d: points.map(([x, y], at) => `${at === 0 ? "M" : "L"}${coordinate(x)} ${coordinate(y)}`).join(""),
      ...attributes,
    },
    element("title", {}, escaped(title)),
  );

export const words = (x: number, y: number, text: string, attributes: Attributes = {}): string =>
  element("text", { x, y, ...attributes }, escaped(text));

/** A drawing that a reader of the page may skip: the title says what it shows, the table beside it has the figures. */
export const drawing = (width: number, height: number, title: string, content: string): string =>
  element(
    "svg",
    { viewBox: `0 0 ${coordinate(width)} ${coordinate(height)}`, role: "img", "aria-label": title },
    content,
  );
