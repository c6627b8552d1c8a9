import { type CostPart, costParts } from '../../shared/calls/call-cost.ts';
import type { TraceView } from '../../shared/contract/traces.ts';
import { dollars } from '../../view/money.ts';
import { count } from '../../view/numbers.ts';
import type { Paint } from '../output/style.ts';
import { alignedTable, type Column } from '../output/table.ts';
import { wrapLine } from '../output/wrap-line.ts';

const columns: Column<CostPart>[] = [
  { title: 'tokens of', value: ({ kind }) => kind },
  { title: 'count', value: ({ tokens }) => tokens, show: ({ tokens }) => count(tokens), align: 'right' },
  {
    title: 'per million',
    value: ({ price }) => price,
    show: ({ price }) => (price === null ? '' : dollars(price)),
    align: 'right',
  },
  {
    title: 'cost',
    value: ({ usd }) => usd,
    show: ({ usd }) => (usd === null ? '' : dollars(usd)),
    align: 'right',
  },
];

/** What a call cost: tokens by kind, at the prices of the time. */
export function costLines(trace: TraceView, { width, paint }: { width: number; paint: Paint }): string[] {
  const { cost, prices, tokens, charged_usd: charged, own_key: isOwnKey } = trace;
  const sentences: string[] = [];
  const { parts, rest, saved } = costParts({ cost, prices, tokens });
  const lines =
    parts.length > 0 ? alignedTable(parts, columns, { columns: width, paint }).trimEnd().split('\n') : [];
  if (rest !== null)
    sentences.push(`${dollars(rest)} of it is for something else than these tokens, such as tools.`);
  if (saved !== null) sentences.push(`Cached input saved ${dollars(saved)}.`);
  if (cost && !prices) sentences.push('The prices of this call are not kept.');
  if (!cost) sentences.push('The price is unknown, so that no amount includes this call.');
  if (tokens.reasoning > 0) sentences.push(`${count(tokens.reasoning)} tokens of the output are reasoning.`);
  if (trace.tokens_reported === false)
    sentences.push('The provider reported no tokens: these are estimated.');
  const totals = cost
    ? [
        ['provider', dollars(cost.provider_usd)],
        ['margin', dollars(cost.margin_usd)],
        ['total', dollars(cost.total_usd)],
      ]
    : [];
  const all = [...totals, ['charged', `${dollars(charged)}${isOwnKey ? ' (own key)' : ''}`]];
  return [
    ...lines,
    ...(lines.length > 0 ? [''] : []),
    ...all.map(([name = '', text = '']) => `${paint('dim', name.padEnd(10))}${text}`),
    ...(sentences.length > 0 ? [''] : []),
    ...sentences.flatMap((sentence) => wrapLine(sentence, width)),
  ];
}
