import type { Paywall } from '../../../shared/contract/paywalls.ts';
import { deletePaywall, getPaywall, listPaywalls, updatePaywall } from '../../../shared/endpoints.ts';
import { bitcoin } from '../../../shared/money/sats.ts';
import { count } from '../../../view/numbers.ts';
import { paywallRecord } from '../../commands/paywalls.ts';
import type { Style } from '../../output/style.ts';
import type { ListColumn } from '../text/list-table.ts';
import { recordLines, recordPage } from './pages.ts';
import type { Screen } from './screen.ts';

const shownMax = 200;

const statusStyles: Record<Paywall['status'], Style> = { active: 'green', paused: 'yellow', deleted: 'dim' };

const columns: ListColumn<Paywall>[] = [
  { title: 'name', width: 14, grows: true, text: ({ name }) => name },
  { title: 'status', width: 8, text: ({ status }) => status, style: ({ status }) => statusStyles[status] },
  {
    title: 'price',
    width: 10,
    align: 'right',
    value: ({ priceSats }) => priceSats,
    text: ({ priceSats }) => bitcoin(priceSats * 1000),
  },
  { title: 'asked', width: 7, align: 'right', spare: 1, text: ({ stats }) => count(stats.challenges) },
  { title: 'paid', width: 7, align: 'right', text: ({ stats }) => count(stats.paid) },
  {
    title: 'revenue',
    width: 12,
    align: 'right',
    value: ({ stats }) => stats.revenueMsats,
    text: ({ stats }) => bitcoin(stats.revenueMsats),
  },
  { title: 'url', width: 20, grows: true, spare: 2, text: ({ url }) => url ?? '–' },
  { title: 'upstream', width: 20, grows: true, spare: 3, text: ({ upstream }) => upstream.url },
];

/** Paywalls: what they earn, and whether the proxies serve them; pause, change the price, delete. */
export const paywallsScreen: Screen<Paywall> = {
  id: 'paywalls',
  title: 'Paywalls',
  letter: 'l',
  aliases: ['paywall', 'l402', 'revenue'],
  empty: [
    'No paywalls yet. Create one in a shell:',
    'gateway paywalls create --upstream http://127.0.0.1:9000 --price 10',
  ],
  footer: ['open', 'edit', 'remove', 'mark', 'copy'],
  refreshEveryMs: 5_000,
  isAffectedBy: ({ type }) => type.startsWith('paywall.') || type === 'invoice.paid',
  columns: () => columns,
  load: async ({ client }) => (await client.call(listPaywalls, { query: { limit: shownMax } })).data,
  idOf: ({ id }) => id,
  copyText: ({ url, name }) => url ?? name,
  commandText: ({ name }) => `gateway paywalls show ${name}`,
  json: (paywall) => paywall,
  summary(paywalls, _services, { paint }) {
    const [first] = paywalls;
    if (!first) return [];
    const sum = (of: (stats: Paywall['stats']) => number) =>
      paywalls.reduce((total, { stats }) => total + of(stats), 0);
    const { state, lastError } = first.proxy;
    const proxy =
      state === 'failed'
        ? paint('red', `proxy failed: ${lastError}`)
        : state === 'pending'
          ? paint('yellow', 'proxy pending')
          : paint('green', 'proxy up to date');
    const challenges = sum(({ challenges: asked }) => asked);
    const paid = sum((stats) => stats.paid);
    const revenue = bitcoin(sum(({ revenueMsats }) => revenueMsats));
    return [`${revenue} earned · ${count(paid)} of ${count(challenges)} challenges paid · ${proxy}`];
  },
  preview: (paywall, options) => recordLines(paywall, paywallRecord(options.now), options),
  async open({ id, name }, { client, now }) {
    const { data } = await client.call(getPaywall, { params: { paywallId: id } });
    return recordPage(name, data, { columns: paywallRecord(now()), copy: data.url ?? name });
  },
  edit: {
    label: 'pause or price',
    labelFor: ({ name, status, priceSats }) => `${name}, ${status}, ${bitcoin(priceSats * 1000)}`,
    placeholder: 'pause, resume, or a new price in satoshis',
    needsRow: true,
    async run(line, { client }, row) {
      if (!row) return 'No paywall is selected.';
      const { data } = await client.call(updatePaywall, {
        params: { paywallId: row.id },
        body: changeIn(line.trim()),
      });
      return `${data.name}: ${data.status}, ${bitcoin(data.priceSats * 1000)}.`;
    },
  },
  remove: {
    question: (rows) =>
      rows.length === 1
        ? `Delete ${rows[0]?.name}? Tokens that were paid stop working.`
        : `Delete ${rows.length} paywalls? Tokens that were paid stop working.`,
    verb: 'Delete',
    async run(rows, { client }) {
      for (const { id } of rows) await client.call(deletePaywall, { params: { paywallId: id } });
      return rows.length === 1 ? `Deleted ${rows[0]?.name}.` : `Deleted ${rows.length} paywalls.`;
    },
  },
};

function changeIn(line: string): { status: 'active' | 'paused' } | { priceSats: number } {
  if (line === 'pause') return { status: 'paused' };
  if (line === 'resume') return { status: 'active' };
  if (/^[1-9]\d{0,10}$/.test(line)) return { priceSats: Number(line) };
  throw new Error('Type pause, resume, or a whole number of satoshis.');
}
