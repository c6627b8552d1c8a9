import { formatUsd, parseUsd } from '../../../shared/money/money.ts';
import { duration } from '../../../view/durations.ts';
import { dollars } from '../../../view/money.ts';
import { count } from '../../../view/numbers.ts';
import type { Context } from '../../context.ts';
import { escapeControls } from '../../output/escape-controls.ts';
import type { Column } from '../../output/table.ts';
import { tokensText } from '../respond/call-cost.ts';
import type { ReplayOutcome } from './replay-call.ts';

interface Results {
  replayOf: string;
  /** What was announced; null if it was not known. */
  mostUsd: string | null;
  outcomes: readonly ReplayOutcome[];
}

/** Prints the answer of one call, or a table of several with their answers. */
export async function showOutcomes(
  context: Context,
  { replayOf, mostUsd, outcomes }: Results,
): Promise<void> {
  const { out, io } = context;
  const spreads = spreadsOf(outcomes);
  if (out.wantsJson())
    return out.document({ replay_of: replayOf, cost_usd_max: mostUsd, calls: outcomes, spread: spreads });
  const [only] = outcomes;
  if (only !== undefined && outcomes.length === 1 && !out.isQuiet()) return showOne(context, only);
  const isSpread = io.stdout.isTty && spreads.some(({ calls }) => calls > 1);
  if (isSpread) await out.table(spreads, spreadColumns, { empty: 'No calls were made.' });
  else
    await out.table([...outcomes], io.stdout.isTty ? callColumns : [...callColumns, answer], {
      empty: 'No calls were made.',
    });
  if (io.stdout.isTty && !out.isQuiet()) showAnswers(context, outcomes);
}

function showOne({ out }: Context, outcome: ReplayOutcome): void {
  if (outcome.answer !== '') out.text(`${outcome.answer}\n`);
  if (outcome.error !== null)
    out.warn(`${out.paint.stderr('red', 'error:')} ${escapeControls(outcome.error)}`);
  out.note(summaryOf(outcome));
}

function summaryOf(outcome: ReplayOutcome): string {
  const { model, provider, input_tokens: input, output_tokens: output } = outcome;
  return [
    provider === null ? model : `${model} via ${provider}`,
    ...(input === null || output === null ? [] : [tokensText(input, output)]),
    dollars(outcome.cost_usd),
    ...(outcome.total_ms === null ? [] : [duration(outcome.total_ms)]),
    ...(outcome.request_id === null ? [] : [outcome.request_id]),
  ].join(' · ');
}

/** Each answer under its model; the same answers once. */
function showAnswers({ out, io }: Context, outcomes: readonly ReplayOutcome[]): void {
  for (const [model, ofModel] of Map.groupBy(outcomes, (outcome) => outcome.model)) {
    for (const [text, same] of Map.groupBy(ofModel, ({ answer: given, error }) => error ?? given)) {
      const times = ofModel.length > 1 ? ` (${same.length} of ${ofModel.length})` : '';
      const title = out.paint.stdout('bold', `── ${escapeControls(model)}${times}`);
      io.stdout.write(`\n${title}\n${escapeControls(text)}\n`);
    }
  }
}

const tokens = (number: number | null): string => (number === null ? '–' : count(number));

const callColumns: Column<ReplayOutcome>[] = [
  { title: 'model', value: ({ model }) => model },
  {
    title: 'status',
    value: ({ status }) => status,
    style: ({ error }) => (error === null ? 'green' : 'red'),
  },
  { title: 'cost_usd', label: 'cost', value: (one) => one.cost_usd, show: (one) => dollars(one.cost_usd) },
  {
    title: 'first_token_ms',
    label: 'first token',
    value: (one) => one.first_token_ms,
    show: (one) => duration(one.first_token_ms),
    align: 'right',
  },
  {
    title: 'total_ms',
    label: 'total',
    value: (one) => one.total_ms,
    show: (one) => duration(one.total_ms),
    align: 'right',
  },
  {
    title: 'input_tokens',
    label: 'input',
    value: (one) => one.input_tokens,
    show: (one) => tokens(one.input_tokens),
    align: 'right',
  },
  {
    title: 'output_tokens',
    label: 'output',
    value: (one) => one.output_tokens,
    show: (one) => tokens(one.output_tokens),
    align: 'right',
  },
  { title: 'request_id', label: 'request', value: (one) => one.request_id, essential: true },
];
const answer: Column<ReplayOutcome> = { title: 'answer', value: ({ error, answer: text }) => error ?? text };

/** The smallest, the middle and the largest of some numbers. */
interface Range {
  min: number;
  median: number;
  max: number;
}

/** How the calls of a model differ. */
interface Spread {
  model: string;
  calls: number;
  failed: number;
  /** How many different ones there were. */
  answers: number;
  cost_usd: { min: string; median: string; max: string } | null;
  first_token_ms: Range | null;
  total_ms: Range | null;
  output_tokens: Range | null;
}

function spreadsOf(outcomes: readonly ReplayOutcome[]): Spread[] {
  return [...Map.groupBy(outcomes, ({ model }) => model)].map(([model, calls]): Spread => {
    const answered = calls.filter(({ error }) => error === null);
    const cost = rangeOf(
      answered.map(({ cost_usd: usd }) => (usd === null ? null : (parseUsd(usd) ?? null))),
    );
    return {
      model,
      calls: calls.length,
      failed: calls.length - answered.length,
      answers: new Set(answered.map(({ answer: text }) => text)).size,
      cost_usd: cost && {
        min: formatUsd(cost.min),
        median: formatUsd(cost.median),
        max: formatUsd(cost.max),
      },
      first_token_ms: rangeOf(answered.map((one) => one.first_token_ms)),
      total_ms: rangeOf(answered.map((one) => one.total_ms)),
      output_tokens: rangeOf(answered.map((one) => one.output_tokens)),
    };
  });
}

function rangeOf(values: readonly (number | null)[]): Range | null {
  const sorted = values.filter((value) => value !== null).sort((one, other) => one - other);
  const [min] = sorted;
  const max = sorted.at(-1);
  const median = sorted[Math.floor((sorted.length - 1) / 2)];
  return min === undefined || max === undefined || median === undefined ? null : { min, median, max };
}

function rangeText<T>(range: { min: T; median: T; max: T } | null, show: (value: T) => string): string {
  if (range === null) return '–';
  const { min, median, max } = range;
  return min === max ? show(median) : `${show(median)} (${show(min)}–${show(max)})`;
}

const spreadColumns: Column<Spread>[] = [
  { title: 'model', value: ({ model }) => model },
  { title: 'calls', value: ({ calls }) => calls, align: 'right' },
  {
    title: 'failed',
    value: ({ failed }) => failed,
    align: 'right',
    style: ({ failed }) => (failed > 0 ? 'red' : undefined),
  },
  { title: 'answers', value: ({ answers }) => answers, align: 'right' },
  { title: 'cost', value: (one) => rangeText(one.cost_usd, dollars) },
  { title: 'first_token', label: 'first token', value: (one) => rangeText(one.first_token_ms, duration) },
  { title: 'total', value: (one) => rangeText(one.total_ms, duration) },
  { title: 'output', value: (one) => rangeText(one.output_tokens, count), isSpare: true },
];
