import type { RequestComposition } from '../../../shared/contract/content.ts';
import { getTraceContent } from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';
import { briefCount, count, percent } from '../../../view/numbers.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import { escapeControls } from '../../output/escape-controls.ts';
import type { Column } from '../../output/table.ts';
import { wrapLine } from '../../output/wrap-line.ts';

type Part = RequestComposition['parts'][number];

/** The parts that are listed on a terminal. */
const largestMax = 10;

/** Prints what fills the context of a request: by kind with the largest parts, in a pipe all parts. */
export async function showComposition(context: Context, request: string): Promise<void> {
  const { out, io } = context;
  const composition = await compositionOf(context, request);
  if (composition === null)
    throw new CliError('The request has no body that is an object.', { exit: exitCodes.failed });
  if (out.wantsJson()) return out.document(composition);
  const { parts, by_kind: kinds, tokens } = composition;
  const empty = { empty: 'The request is empty.' };
  if (!io.stdout.isTty) return await out.table(parts, partColumns(tokens), empty);
  const read = kinds.filter((kind) => kind.tokens > 0);
  await out.table(read, kindColumns(tokens), empty);
  const largest = parts.toSorted((one, other) => other.tokens - one.tokens).slice(0, largestMax);
  out.text('\n');
  await out.table(largest, partColumns(tokens), empty);
  const lines = cacheLines(composition, io.columns());
  if (lines.length > 0) out.text(`\n${lines.join('\n')}\n`);
}

const share = (part: number, whole: number) => percent(part / Math.max(1, whole));

const kindColumns = (tokens: number): Column<RequestComposition['by_kind'][number]>[] => [
  { title: 'kind', value: ({ kind }) => kind, show: ({ kind }) => kind.replace('_', ' ') },
  { title: 'parts', value: ({ parts }) => parts, align: 'right' },
  {
    title: 'tokens',
    label: '≈ tokens',
    value: (kind) => kind.tokens,
    show: (kind) => count(kind.tokens),
    align: 'right',
  },
  { title: 'share', value: (kind) => share(kind.tokens, tokens), align: 'right' },
];

const partColumns = (tokens: number): Column<Part>[] => [
  { title: 'path', label: 'part', value: ({ path }) => path },
  { title: 'kind', value: ({ kind }) => kind, show: ({ kind }) => kind.replace('_', ' ') },
  { title: 'name', value: ({ name, role }) => name ?? role, show: ({ name, role }) => name ?? role ?? '–' },
  {
    title: 'tokens',
    label: '≈ tokens',
    value: (part) => part.tokens,
    show: (part) => count(part.tokens),
    align: 'right',
  },
  { title: 'share', value: (part) => share(part.tokens, tokens), align: 'right' },
  { title: 'bytes', value: ({ bytes }) => bytes, align: 'right', isSpare: true },
];

async function compositionOf(context: Context, request: string): Promise<RequestComposition | null> {
  const query = { part: 'composition' } as const;
  const content = await context.client().call(getTraceContent, { params: { request_id: request }, query });
  return content.composition;
}

/** Null where the content is not kept, or not for the caller. */
export async function keptComposition(context: Context, request: string): Promise<RequestComposition | null> {
  try {
    return await compositionOf(context, request);
  } catch (error) {
    if (error instanceof ReceivedError) return null;
    throw error;
  }
}

/** What is as in the request before it, and where the prompt cache broke; empty without such a request. */
export function cacheLines({ tokens, previous }: RequestComposition, width: number): string[] {
  if (previous === null) return [];
  const { unchanged_tokens: unchanged, changed_parameters: parameters, break: broken } = previous;
  const lines = [
    `Unchanged since ${previous.request_id}: ≈ ${briefCount(unchanged)} of ${briefCount(tokens)} tokens.`,
  ];
  if (parameters.length > 0) lines.push(`Changed: ${parameters.join(', ')}.`);
  if (broken) {
    const shown = (text: string) => text.replace(/\s+/g, ' ') || '–';
    lines.push(`The prompt cache broke at ${broken.path} (${broken.change}):`);
    lines.push(`  before  ${shown(broken.before)}`, `  after   ${shown(broken.after)}`);
  }
  return lines.flatMap((line) => wrapLine(escapeControls(line), width));
}
