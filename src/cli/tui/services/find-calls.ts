import { isQueryFault, parseQuery, queryWords } from '../../../shared/calls/query.ts';
import { listTraces } from '../../../shared/endpoints.ts';
import { ownValue } from '../../../shared/json/json-object.ts';
import { type CallRow, rowOfTrace } from '../../../view/call-row.ts';
import type { Sort } from '../text/list-table.ts';
import type { Services } from './services.ts';

const pageSize = 100;
/** The daemon answers after 50 ms with what it has; so often it is asked to go on until something is found. */
const slicesMax = 40;

const words = new RegExp(`(^|\\s)-?(${[...queryWords, 'since', 'until'].join('|')}):`);

/** Whether a text asks for calls by what they are, such as `status:failed`, `>4s` or a text in quotation marks. */
export function isCallQuery(text: string): boolean {
  return words.test(text.replaceAll(/\bhttps?:\/\//g, '')) || /(^|\s)(>[$\d]|")/.test(text);
}

/** The columns of which the daemon knows the largest values of all calls. */
const sortings: Readonly<Record<string, 'total_ms' | 'cost'>> = { total: 'total_ms', cost: 'cost' };

/** Finds finished calls, newest first, or those that took longest or cost most. Fails with a sentence for a query that cannot be read. */
export async function findCalls(
  text: string,
  { client }: Services,
  { after, sort }: { after: string | undefined; sort: Sort | undefined },
): Promise<{ rows: CallRow[]; next: string | null }> {
  const query = parseQuery(text);
  if (isQueryFault(query)) throw new Error(`${query.part}: ${query.message}`);
  const sorting = sort?.isDescending ? ownValue(sortings, sort.column) : undefined;
  const rows: CallRow[] = [];
  let next: string | null = after ?? null;
  for (let slice = 0; slice < slicesMax; slice += 1) {
    const page = await client.call(listTraces, {
      query: {
        q: text,
        limit: pageSize,
        fields: 'brief',
        ...(sorting && { sort: sorting }),
        ...(next !== null && { after: next }),
      },
    });
    rows.push(...page.data.map(rowOfTrace));
    next = page.has_more ? page.next : null;
    if (rows.length > 0 || next === null) break;
  }
  return { rows, next };
}
