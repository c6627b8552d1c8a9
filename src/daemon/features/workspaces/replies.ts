import type { Endpoint, Result } from '../../../shared/contract/endpoint.ts';
import { pageSizeDefault } from '../../../shared/contract/vocabulary.ts';
import { RelayReply } from '../../handler.ts';
import type { IdPage } from './people-store.ts';

/** An answer with a secret in it must not stay in anybody's cache. */
export function withSecret<E extends Endpoint>(answer: Result<E>): RelayReply {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  return new RelayReply(headers, JSON.stringify(answer));
}

/** One page of a list whose items are read by `read`; one more than asked tells whether there is another page. */
export async function pageOf<Item>(
  { limit = pageSizeDefault, after }: { limit?: number; after?: string },
  read: (page: IdPage) => Promise<Item[]>,
  idOf: (item: Item) => string = (item) => (item as { id: string }).id,
) {
  const found = await read({ limit: limit + 1, after });
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  return { object: 'list', items, has_more: hasMore, next: hasMore ? idOf(last) : null } as const;
}
