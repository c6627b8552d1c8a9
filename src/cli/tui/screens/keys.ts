import type { Key, KeyWithUse } from '../../../shared/contract/keys.ts';
import { issueKey, listKeys, revokeKey, setLimits, showKey } from '../../addresses.ts';
import { collectPages } from '../../commands/collect-pages.ts';
import { limitsText } from '../../commands/keys/limits-text.ts';
import { keyRecord, requestsShare, spendShare } from '../../commands/keys/show.ts';
import { ago } from '../../output/time.ts';
import type { Page, Screen, ScreenColumn, Services } from '../screen.ts';
import { gauge } from '../text/bar.ts';
import { recordLines, recordPage } from '../text/pages.ts';
import { keyWish, limitsWish } from './key-wishes.ts';

/** A key; with what it used where it is limited, as only then there is something to fill. */
export interface KeyRow {
  key: Key;
  withUse: KeyWithUse | undefined;
}

const workspace = 'me';
const keysMax = 500;
/** So many are asked for what they used: a call each. */
const usesMax = 40;

/** The API keys of the workspace: issue, limit, revoke. */
export const keysScreen: Screen<KeyRow> = {
  id: 'keys',
  title: 'Keys',
  letter: 'k',
  aliases: ['key', 'api-keys'],
  empty: ['No keys yet: press c to issue one.'],
  footer: ['open', 'compose', 'edit', 'remove', 'mark'],
  refreshEveryMs: 10_000,
  isTouchedBy: ({ type }) => type.startsWith('key.'),
  columns: () => columns,
  load,
  idOf: ({ key }) => key.id,
  copyText: ({ key }) => key.id,
  commandText: ({ key }) => `gateway keys show ${key.id}`,
  json: ({ key, withUse }) => withUse ?? key,
  aside: ({ key, withUse }, drawing) =>
    withUse
      ? recordLines(withUse, keyRecord(drawing.now), drawing)
      : [key.id, key.name, key.status, key.hint, key.scopes.join(' ')],
  async open({ key }, { client, now }) {
    const shown = await client.call(showKey, { params: { workspace, key: key.id } });
    return recordPage(key.name || key.id, shown, { columns: keyRecord(now()), copy: key.id });
  },
  remove: {
    question: (rows) =>
      `Revoke ${rows.length === 1 ? `${rows[0]?.key.name} (${rows[0]?.key.id})` : `${rows.length} keys`}? Calls with ${rows.length === 1 ? 'it, and with keys that it issued,' : 'them, and with keys that they issued,'} fail from then on.`,
    verb: 'Revoke',
    run: revoke,
  },
  compose: {
    label: 'issue a key',
    hint: 'name and limits: ci --spend-cap 5/day --rpm 60 --expires 30d',
    run: issue,
  },
  edit: {
    label: 'limits',
    hint: '--spend-cap 5/day --rpm 60 --model "gpt*" --expires 30d',
    needsRow: true,
    async run(line, { client, now }, row) {
      if (!row) return 'No key is selected.';
      const body = await limitsWish(line, now());
      const limits = await client.call(setLimits, { params: { workspace, key: row.key.id }, body });
      return `${row.key.name}: ${limitsText(limits) || 'no limits'}.`;
    },
  },
};

const columns: ScreenColumn<KeyRow>[] = [
  { title: 'name', width: 12, grows: true, text: ({ key }) => key.name },
  {
    title: 'status',
    width: 8,
    text: ({ key }) => key.status,
    style: ({ key }) => (key.status === 'active' ? 'green' : 'dim'),
  },
  { title: 'used of limit', width: 20, text: (row, drawing) => usedText(row, drawing), style: usedStyle },
  { title: 'limits', width: 16, grows: true, spare: 2, text: ({ key }) => limitsText(key.limits) || 'none' },
  { title: 'secret', width: 18, spare: 4, text: ({ key }) => key.hint },
  { title: 'last used', width: 14, spare: 1, text: ({ key }, { now }) => ago(key.last_used_at, now) },
  { title: 'created', width: 14, spare: 3, text: ({ key }, { now }) => ago(key.created_at, now) },
];

/** A key that was issued by one before it in the list has ended with that one. */
async function revoke(rows: readonly KeyRow[], { client }: Services): Promise<string> {
  const revoked = new Set<string>();
  for (const { key } of rows) {
    if (revoked.has(key.id)) continue;
    const answer = await client.call(revokeKey, { params: { workspace, key: key.id } });
    for (const id of [key.id, ...(answer.also_revoked ?? [])]) revoked.add(id);
  }
  return revoked.size === 1 ? `Revoked ${[...revoked][0]}.` : `Revoked ${revoked.size} keys.`;
}

/** How full the fullest of a key's limits is. */
function shareOf({ withUse }: KeyRow): number | undefined {
  if (!withUse) return undefined;
  const spend = withUse.limits.spend_cap && spendShare(withUse, withUse.limits.spend_cap.period);
  const shares = [spend, requestsShare(withUse)].filter((share) => share != null);
  return shares.length > 0 ? Math.max(...shares) : undefined;
}

function usedText(row: KeyRow, drawing: { width: number; isPlain: boolean }): string {
  const share = shareOf(row);
  return share === undefined ? '–' : gauge(share, drawing.width, drawing);
}

function usedStyle(row: KeyRow): 'red' | 'yellow' | undefined {
  const share = shareOf(row) ?? 0;
  if (share < 0.8) return undefined;
  return share >= 1 ? 'red' : 'yellow';
}

async function load({ client, keyNames }: Services): Promise<KeyRow[]> {
  const keys = await collectPages(keysMax, (query) =>
    client.call(listKeys, { params: { workspace }, query }),
  );
  for (const { id, name } of keys) keyNames.set(id, name || id);
  const limited = keys
    .filter(({ status, limits }) => status === 'active' && (limits.spend_cap || limits.requests_per_minute))
    .slice(0, usesMax);
  const shown = await Promise.all(
    limited.map(({ id }) => client.call(showKey, { params: { workspace, key: id } }).catch(() => undefined)),
  );
  const uses = new Map(shown.flatMap((one) => (one ? [[one.id, one] as const] : [])));
  // Those that work first: revoked ones are kept for the record.
  return keys
    .map((key) => ({ key, withUse: uses.get(key.id) }))
    .sort((one, other) => Number(other.key.status === 'active') - Number(one.key.status === 'active'));
}

/** The secret is on a page of its own, gone when it is left. */
async function issue(line: string, { client, now }: Services): Promise<Page> {
  const body = await keyWish(line, now());
  const { key, secret } = await client.call(issueKey, { params: { workspace }, body });
  return {
    title: `${key.name || key.id} was issued`,
    lines: ({ paint }) => [
      paint('bold', secret),
      '',
      'Keep the secret now (y copies it): it is not shown again.',
      '',
      `id      ${key.id}`,
      `scopes  ${key.scopes.join(' ')}`,
      `limits  ${limitsText(key.limits) || 'none'}`,
    ],
    copy: secret,
  };
}
