import { numberParameters } from '../../src/daemon/storage/postgres/engine/placeholders.ts';
import type { Query } from '../../src/daemon/storage/postgres/migrate.ts';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Plans?: PlanNode[];
}

interface Explained {
  [column: string]: unknown;
  'QUERY PLAN': [{ Plan: PlanNode }];
}

/** A statement that reads a table from one end to the other, by every plan that PostgreSQL has for it. */
export interface TableScan {
  sql: string;
  table: string;
}

/** Settings under which a plan reads a whole table only if there is no other way, although the table is empty. */
const settings =
  'SET enable_seqscan = off; SET enable_mergejoin = off; SET enable_hashjoin = off; SET plan_cache_mode = force_generic_plan';

/** Where a list selects rows, the plan depends on how many there are. */
const filling = [
  `INSERT INTO workspaces (id, slug, name, created_at) VALUES ('ws', 'ws', 'ws', 0) ON CONFLICT DO NOTHING`,
  `INSERT INTO keys (id, workspace_id, owner_id, name, digest, hint, scopes, created_at)
   SELECT n, 'ws', 'usr', 'key', n, '', '[]', n FROM generate_series(1, 5000) AS n ON CONFLICT DO NOTHING`,
  `INSERT INTO calls (number, request_id, workspace, endpoint, model, streamed, own_key, status, input, cached_input, cache_write,
     output, reasoning, tokens_reported, charged, total_ms, created_at, completed_at, details)
   SELECT n, n, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, n, n, '[]' FROM generate_series(1, 50000) AS n ON CONFLICT DO NOTHING`,
  'ANALYZE calls, keys',
];

/** Scans of whole tables by statements of the stores, except those that end after some rows in the order of an index. */
export async function tableScans(query: Query, statements: Iterable<string>): Promise<TableScan[]> {
  for (const sql of filling) await query(sql);
  await query(settings);
  const partial = new Set(
    (await query('SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indpred IS NOT NULL')).map(
      ({ name }) => name,
    ),
  );
  const scans: TableScan[] = [];
  for (const text of statements) {
    if (!/^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\b/i.test(text)) continue;
    const { sql, names } = numberParameters(text);
    await query(`PREPARE planned AS ${sql}`);
    const values = names.length === 0 ? '' : `(${names.map(() => 'NULL').join(', ')})`;
    const [row] = (await query(`EXPLAIN (FORMAT JSON) EXECUTE planned${values}`)) as [Explained];
    await query('DEALLOCATE planned');
    const [{ Plan }] = row['QUERY PLAN'];
    // Tables of the writer's session have what it is folding.
    for (const table of scanned(Plan, { partial, isLimited: false }))
      if (!table.startsWith('folding')) scans.push({ sql: text, table });
  }
  return scans;
}

function scanned(
  node: PlanNode,
  { partial, isLimited }: { partial: ReadonlySet<unknown>; isLimited: boolean },
): string[] {
  const type = node['Node Type'];
  const table = node['Relation Name'];
  const isRead = /Scan$|Backward$/.test(type) && type !== 'Bitmap Heap Scan' && table !== undefined;
  const isWhole = isRead && !node['Index Cond'] && !partial.has(node['Index Name']);
  const isOrdered = type !== 'Seq Scan' && isLimited;
  // What is sorted or added up is read to its end.
  const below = (isLimited || type === 'Limit') && !/Sort|Aggregate|Unique/.test(type);
  return [
    ...(isWhole && !isOrdered ? [table] : []),
    ...(node.Plans ?? []).flatMap((child) => scanned(child, { partial, isLimited: below })),
  ];
}
