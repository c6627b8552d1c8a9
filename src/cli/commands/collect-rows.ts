interface RowPage<Row> {
  data: Row[];
  meta: { nextCursor: string | null };
}

const pageSizeMax = 200;

/** Reads a list of the site API page by page, newest first, up to `limit` rows. */
export async function collectRows<Row>(
  limit: number,
  read: (page: { limit: number; before_id: number | undefined }) => Promise<RowPage<Row>>,
): Promise<Row[]> {
  const rows: Row[] = [];
  let before: number | undefined;
  do {
    const page = await read({ limit: Math.min(pageSizeMax, limit - rows.length), before_id: before });
    rows.push(...page.data);
    before = page.meta.nextCursor === null ? undefined : Number(page.meta.nextCursor);
  } while (before !== undefined && rows.length < limit);
  return rows;
}
