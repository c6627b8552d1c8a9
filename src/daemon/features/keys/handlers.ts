import type { Result } from '../../../shared/contract/endpoint.ts';
import { getKey, issueKey, listKeys, revokeKey } from '../../../shared/contract/keys.ts';
import { pageSizeDefault } from '../../../shared/contract/vocabulary.ts';
import { identified, implement, RelayReply } from '../../handler.ts';
import { toKey } from './key-view.ts';
import type { Keys } from './keys.ts';

/** An answer with a secret in it must not stay in anybody's cache. */
const secretHeaders = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

export const keyHandlers = (keys: Keys) => [
  implement(listKeys, async ({ caller, params, query }) => {
    const page = { limit: query.limit ?? pageSizeDefault, after: query.after };
    const { records, hasMore } = await keys.list(identified(caller), params.workspace, page);
    const next = hasMore ? (records.at(-1)?.id ?? null) : null;
    return { object: 'list', data: records.map(toKey), has_more: hasMore, next };
  }),

  implement(issueKey, async ({ caller, params, body }) => {
    // The body may be left out altogether.
    const wish = { name: body?.name, scopes: body?.scopes };
    const { record, secret } = await keys.issue(identified(caller), params.workspace, wish);
    const issued: Result<typeof issueKey> = { key: toKey(record), secret };
    return new RelayReply(secretHeaders, JSON.stringify(issued));
  }),

  implement(revokeKey, async ({ caller, params }) => {
    await keys.revoke(identified(caller), params.workspace, params.key);
    return { id: params.key, object: 'key', deleted: true };
  }),

  implement(getKey, async ({ caller }) => await keys.view(identified(caller))),
];
