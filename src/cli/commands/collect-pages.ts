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
