/** Metrics as the Prometheus client of Python writes them (text format 0.0.4), which is what engines serve. */

export type Labels = Readonly<Record<string, string>>;
export type Series = { readonly labels: Labels; readonly value: number };
export type Distribution = {
  readonly labels: Labels;
  /** Upper bounds, ascending, without +Inf. */
  readonly bounds: readonly number[];
  /** Observations a bucket, not cumulative; one more than bounds, for +Inf. */
  readonly counts: readonly number[];
  readonly sum: number;
};

export type Family =
  | { readonly kind: "gauge"; readonly name: string; readonly help: string; readonly series: readonly Series[] }
  /** `name` without `_total`. */
  | { readonly kind: "counter"; readonly name: string; readonly help: string; readonly series: readonly Series[] }
  | {
      readonly kind: "histogram";
      readonly name: string;
      readonly help: string;
      readonly series: readonly Distribution[];
    };

export const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** @param createdAtSeconds when counting began, epoch seconds: the `_created` series beside each counter and histogram; null: no such series */
export const expose = (families: readonly Family[], createdAtSeconds: number | null): string =>
  families.map((family) => familyText(family, createdAtSeconds)).join("");

const familyText = (family: Family, createdAtSeconds: number | null): string => {
  const { name, help } = family;
  const created = (): string =>
    createdAtSeconds === null
      ? ""
      : seriesText(
          `${name}_created`,
          "gauge",
          help,
          family.series.map(({ labels }) => ({ labels, value: createdAtSeconds })),
        );
  switch (family.kind) {
    case "gauge":
      return seriesText(name, "gauge", help, family.series);
    case "counter":
      return seriesText(`${name}_total`, "counter", help, family.series) + created();
    case "histogram":
      return (
        header(name, "histogram", help) + family.series.map((one) => distributionText(name, one)).join("") + created()
      );
  }
};

const header = (name: string, type: string, help: string): string => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;

const seriesText = (name: string, type: string, help: string, series: readonly Series[]): string =>
  header(name, type, help) + series.map(({ labels, value }) => line(name, labels, value)).join("");

const distributionText = (name: string, { labels, bounds, counts, sum }: Distribution): string => {
  let text = "";
  let total = 0;
  for (const [at, count] of counts.entries()) {
    total += count;
    const bound = bounds[at];
    text += line(`${name}_bucket`, { ...labels, le: bound === undefined ? "+Inf" : number(bound) }, total);
  }
  return text + line(`${name}_count`, labels, total) + line(`${name}_sum`, labels, sum);
};

const line = (name: string, labels: Labels, value: number): string => {
  const pairs = Object.keys(labels)
    .sort()
    .map((key) => `${key}="${escaped(labels[key] ?? "")}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${number(value)}\n`;
};

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

/** Python writes a float with its point. */
const number = (value: number): string => {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  return Number.isInteger(value) ? `${value}.0` : `${value}`;
};
