import type { Endpoint, Result } from '../../shared/contract/endpoint.ts';
import { pageSizeDefault } from '../../shared/contract/vocabulary.ts';
import { RelayReply } from './handler.ts';

/** Replies of handlers in many features. */

export interface PageRequest {
  limit: number;
  /** The id of the last item of the page before. */
  after: string | undefined;
}

/** One page of a list as the contract `listOf` has it; `read` gets a limit of one more item, which shows whether there is another page. */
export async function pageOf<Item, View>(
  { limit = pageSizeDefault, after }: { limit?: number; after?: string },
  read: (page: PageRequest) => Promise<readonly Item[]>,
  show: { view: (item: Item) => View; idOf: (item: Item) => string },
) {
  const found = await read({ limit: limit + 1, after });
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  const next = last === undefined ? null : show.idOf(last);
  return { object: 'list' as const, data: items.map(show.view), has_more: next !== null, next };
}

/** An answer with a secret in it must not be cached, nor compressed, also by proxies. */
export function withSecret<E extends Endpoint>(answer: Result<E>): RelayReply {
  return new RelayReply({ 'cache-control': 'no-store, no-transform' }, JSON.stringify(answer));
}
