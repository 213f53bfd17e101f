/** Pages of a list of which somebody may see a part: filled with what they may see, from as many pages as it takes. */
import type { Page, PageQuery } from "./ports.ts";

/** Rows looked at for one page; then it is short, and its cursor goes on. */
const MOST_EXAMINED = 5_000;
const AT_ONCE = 500;

type ListPage<Item> = (query: PageQuery) => Page<Item> | Promise<Page<Item>>;

/** @param sees null: everything */
export const permittedPage = async <Item>(
  list: ListPage<Item>,
  query: PageQuery,
  sees: ((item: Item) => boolean) | null,
): Promise<Page<Item>> => {
  if (sees === null) return list(query);
  const items: Item[] = [];
  let { cursor } = query;
  let examined = 0;
  do {
    const page = await list({ limit: AT_ONCE, cursor });
    for (const [at, item] of page.items.entries()) {
      if (!sees(item)) continue;
      items.push(item);
      if (items.length < query.limit) continue;
      if (at === page.items.length - 1) return { items, nextCursor: page.nextCursor };
      // Only the list knows its cursors: the one behind this item is that of a page which ends with it.
      return { items, nextCursor: (await list({ limit: at + 1, cursor })).nextCursor };
    }
    examined += page.items.length;
    cursor = page.nextCursor;
  } while (cursor !== null && examined < MOST_EXAMINED);
  return { items, nextCursor: cursor };
};
