import { costParts } from '../../../shared/calls/call-cost.ts';
import type { TraceView } from '../../../shared/contract/traces.ts';
import { getTrace } from '../../../shared/endpoints.ts';
import { costLines } from '../../content/cost-lines.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/table.ts';
import { cacheLines, keptComposition } from './composition.ts';

/** Prints what a request cost by kind of token, and where the prompt cache of the call before it ended. */
export async function showCost(context: Context, request: string): Promise<void> {
  const { out, io } = context;
  const client = context.client();
  const trace = await client.call(getTrace, { params: { request_id: request } });
  const { parts, rest, saved } = costParts(trace);
  if (out.wantsJson()) {
    const { tokens, prices, cost, charged_usd } = trace;
    return out.document({ request_id: request, tokens, prices, cost, charged_usd, parts, rest, saved });
  }
  if (!io.stdout.isTty) return await out.table(rowsOf(trace), columns, { empty: 'It used no tokens.' });
  const width = io.columns();
  const lines = costLines(trace, { width, paint: out.paint.stdout });
  const composition = await keptComposition(context, request);
  if (composition?.previous) lines.push('', ...cacheLines(composition, width));
  // Painted, so it is not escaped again.
  io.stdout.write(`${lines.join('\n')}\n`);
}

interface Row {
  kind: string;
  tokens: number | null;
  price: string | null;
  usd: string | null;
}

function rowsOf(trace: TraceView): Row[] {
  const { parts, rest } = costParts(trace);
  const amount = (kind: string, usd: string | null): Row => ({ kind, tokens: null, price: null, usd });
  const { cost, charged_usd: charged } = trace;
  return [
    ...parts,
    ...(rest === null ? [] : [amount('other', rest)]),
    ...(cost === null ? [] : [amount('margin', cost.margin_usd), amount('total', cost.total_usd)]),
    amount('charged', charged),
  ];
}

const columns: Column<Row>[] = [
  { title: 'kind', value: ({ kind }) => kind },
  { title: 'tokens', value: ({ tokens }) => tokens },
  { title: 'per_million_usd', value: ({ price }) => price },
  { title: 'cost_usd', value: ({ usd }) => usd },
];
