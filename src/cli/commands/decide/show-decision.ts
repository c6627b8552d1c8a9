import type { Decision, DecisionAnswer } from '../../../shared/contract/decisions.ts';
import { duration } from '../../../view/durations.ts';
import { decimal, percent } from '../../../view/numbers.ts';
import type { Context } from '../../context.ts';
import { escapeControls } from '../../output/escape-controls.ts';
import { cutToWidth, widthOf } from '../../output/width.ts';
import type { Question } from './questions.ts';

const cells = 24;
const eighths = ' ▏▎▍▌▋▊▉';

/** A bar of a probability, to an eighth of a character. */
export function bar(probability: number, width = cells): string {
  const filled = Math.round(probability * width * 8);
  const full = Math.floor(filled / 8);
  const rest = filled % 8 === 0 ? '' : (eighths[filled % 8] ?? '');
  return `${'█'.repeat(full)}${rest}`.padEnd(width, ' ');
}

/** One option of an answer, as it is shown. */
interface OptionRow {
  label: string;
  probability: number;
  isTop: boolean;
}

/** The options of an answer with their probabilities; none of a refusal. */
export function optionRows(answer: DecisionAnswer): OptionRow[] {
  if (answer.type === 'refusal') return [];
  if (answer.type === 'predicate') {
    const { probability } = answer;
    return [
      { label: 'yes', probability, isTop: probability >= 0.5 },
      { label: 'no', probability: 1 - probability, isTop: probability < 0.5 },
    ];
  }
  const top = Math.max(...answer.probabilities.map((each) => each.probability));
  return answer.probabilities.map((each) => ({
    label: 'label' in each ? each.label : String(each.value),
    probability: each.probability,
    isTop: each.probability === top,
  }));
}

/** Options below this are summed up in one line, if there are many. */
const shownMax = 12;

/** Prints bars for each question. */
export function showDecision({ out, io }: Context, questions: readonly Question[], decision: Decision): void {
  const paint = out.paint.stdout;
  for (const [at, answer] of decision.answers.entries()) {
    const { name, instructions } = questions[at] ?? {};
    if (at > 0) io.stdout.write('\n');
    io.stdout.write(
      `${paint('bold', cutToWidth(escapeControls(name ?? instructions ?? ''), io.columns()))}\n`,
    );
    if (answer.type === 'refusal') {
      io.stdout.write('  the model declined to answer\n');
      continue;
    }
    const all = optionRows(answer);
    const shown =
      all.length <= shownMax ? all : all.toSorted((a, b) => b.probability - a.probability).slice(0, shownMax);
    const width = Math.min(24, Math.max(...shown.map(({ label }) => label.length)));
    for (const { label, probability, isTop } of shown) {
      const style = isTop ? 'green' : 'dim';
      const name = cutToWidth(escapeControls(label), width);
      const line = `  ${name}${' '.repeat(Math.max(0, width - widthOf(name)))}  ${paint(style, bar(probability))} ${percent(probability)}`;
      io.stdout.write(`${line}\n`);
    }
    const others = all.length - shown.length;
    if (others > 0) io.stdout.write(`  and ${others} less probable ones\n`);
    if (answer.type === 'score')
      io.stdout.write(`  score ${decimal(answer.score, 2)} of ${all.length - 1}\n`);
  }
}

const methodNames: Readonly<Record<Decision['service']['method'], string>> = {
  native: 'decision endpoint',
  token_probabilities: 'token probabilities',
  sampled: 'sampled answers',
};

/** How the answer was found, in one line. */
export function howDecided({ model, service }: Decision): string {
  const { answered_by: source, method, calibrated, latency_ms: ms, attempts, diagnostics } = service;
  const masses = diagnostics.flatMap(({ mass }) => mass ?? []);
  const lowest = Math.min(...masses);
  return [
    `${model} via ${source}`,
    methodNames[method],
    ...(calibrated ? ['calibrated'] : []),
    ...(masses.length > 0 && lowest < 0.9 ? [`${percent(lowest)} on the options`] : []),
    ...(attempts.length > 0
      ? [`after ${attempts.map((each) => `${each.source}: ${each.outcome}`).join(', ')}`]
      : []),
    duration(ms),
  ].join(' · ');
}

/** The answer alone: `0.93`, `billing`, `1.7`; `refused` for a refusal. */
export function bareAnswer(answer: DecisionAnswer): string {
  if (answer.type === 'predicate') return decimal(answer.probability, 4);
  if (answer.type === 'choice') return String(answer.choice);
  return answer.type === 'score' ? decimal(answer.score, 4) : 'refused';
}
