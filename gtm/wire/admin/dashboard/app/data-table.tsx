/** A table: headers, rows with a key, numbers to the right; wide ones scroll by themselves. */
import type { ComponentChildren, VNode } from "preact";

export type Column<Row> = {
  readonly title: string;
  readonly isNumber?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
};

type Wish<Row> = {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
};

export const DataTable = <Row,>({ caption, columns, rows, keyOf }: Wish<Row>) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
  <section class="scroll" tabIndex={0} aria-label={caption}>
    <table>
      <caption>{caption}</caption>
      <thead>
        <tr>{headsOf(columns)}</tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>{cellsOf(columns, row)}</tr>
        ))}
      </tbody>
    </table>
  </section>
);

export const headsOf = <Row,>(columns: readonly Column<Row>[]): readonly VNode[] =>
  columns.map(({ title, isNumber }) => (
    <th key={title} scope="col" class={isNumber === true ? "number" : undefined}>
      {title}
    </th>
  ));

export const cellsOf = <Row,>(columns: readonly Column<Row>[], row: Row): readonly VNode[] =>
  columns.map(({ title, isNumber, cell }) => (
    <td key={title} class={isNumber === true ? "number" : undefined}>
      {cell(row)}
    </td>
  ));
