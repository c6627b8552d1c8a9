import { isoTime } from '../../../shared/time/time.ts';
import type { EventFeed } from '../events/index.ts';
import type { PreviousSecret } from './store.ts';

/** Tells the workspace of a key that it has expired, with the first call that used it since. */
export function publishExpiry(
  events: Pick<EventFeed, 'publish' | 'record'>,
  { keyId, workspaceId }: { keyId: string; workspaceId: string },
): void {
  const data = { key: keyId, param: 'limits.expires_at' };
  events.publish({ type: 'limit.reached', workspaceId, data });
}

/** Tells the workspace of a key that a program still uses a secret which was replaced. */
export function recordPreviousUse(
  events: Pick<EventFeed, 'publish' | 'record'>,
  { keyId, workspaceId, hint, endsAt, replacedAt, lastUsedAt }: PreviousSecret,
): void {
  const data = { key: keyId, hint, ends_at: isoTime(endsAt) };
  void events.record({
    type: 'key.previous_secret_used',
    workspaceId,
    at: lastUsedAt ?? replacedAt,
    data,
  });
}
