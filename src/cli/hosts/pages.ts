interface Page<Item> {
  data: Item[];
  next: string | null;
}

const pageSizeMax = 100;

/** Reads a list page by page, up to `limit` items. */
export async function collectPages<Item>(
  limit: number,
  read: (page: { limit: number; after: string | undefined }) => Promise<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let after: string | undefined;
  do {
    const page = await read({ limit: Math.min(pageSizeMax, limit - items.length), after });
    items.push(...page.data);
    after = page.next ?? undefined;
  } while (after !== undefined && items.length < limit);
  return items;
}

interface RowPage<Row> {
  data: Row[];
  meta: { nextCursor: string | null };
}

const rowPageSizeMax = 200;

/** Reads a list of the site API page by page, newest first, up to `limit` rows. */
export async function collectRows<Row>(
  limit: number,
  read: (page: { limit: number; before_id: number | undefined }) => Promise<RowPage<Row>>,
): Promise<Row[]> {
  const rows: Row[] = [];
  let before: number | undefined;
  do {
    const page = await read({ limit: Math.min(rowPageSizeMax, limit - rows.length), before_id: before });
    rows.push(...page.data);
    before = page.meta.nextCursor === null ? undefined : Number(page.meta.nextCursor);
  } while (before !== undefined && rows.length < limit);
  return rows;
}
