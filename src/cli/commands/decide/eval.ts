import { closeSync, writeFileSync } from 'node:fs';
import { Command } from '@commander-js/extra-typings';
import { decimal, percent } from '../../../view/numbers.ts';
import type { Context } from '../../context.ts';
import { example, wholeNumber } from '../../options.ts';
import { decisionModel } from './choose-decision-model.ts';
import { askExamples, readExamples } from './examples.ts';
import { openToAppend } from './files.ts';
import { collectOptions, type QuestionFlags, questionsOf } from './questions.ts';
import { type Scores, scoresOf } from './scores.ts';
import { bar } from './show-decision.ts';

const fileHelp = 'lines of JSON: {"input", "question", "label"}';

export const evalCommand = (context: Context) =>
  new Command('eval')
    .argument('<file>', fileHelp)
    .argument('[question]', 'the question of lines without one')
    .option('-m, --model <model>', 'a model (default: GATEWAY_DECISION_MODEL, then service/decide)')
    .option('--choice <options>', 'the choices of that question', collectOptions)
    .option('--levels <levels>', 'the levels of that question', collectOptions)
    .option('--svg <file>', 'write the reliability diagram to this file')
    .option('--concurrency <count>', 'examples at a time (default: 4)', wholeNumber({ min: 1, max: 64 }))
    .addHelpText(
      'after',
      example('gateway decide eval labelled.jsonl --model openai/gpt-5-mini --svg reliability.svg'),
    )
    .action((file, question, flags) => evaluate(context, { file, question }, flags));

interface EvalFlags extends QuestionFlags {
  model?: string | undefined;
  svg?: string | undefined;
  concurrency?: number | undefined;
}

async function evaluate(
  context: Context,
  { file, question }: { file: string; question: string | undefined },
  { model: named, svg, concurrency = 4, ...flags }: EvalFlags,
): Promise<void> {
  const [asked] = question === undefined ? [] : questionsOf(question, flags);
  const examples = readExamples(file, asked);
  const model = decisionModel(context, named);
  // Before any example is asked: a model may cost something.
  if (svg !== undefined) closeSync(openToAppend(svg, 'The diagram'));
  const { answered, refused } = await askExamples(context, examples, { model, concurrency });
  const scores = scoresOf(answered);
  const models = [...new Set(answered.map((each) => each.model))];
  if (svg !== undefined) writeFileSync(svg, reliabilitySvg(scores, models.join(', ') || model));
  if (context.out.wantsJson() || !context.io.stdout.isTty) {
    return await context.out.document({ models, refused, ...scores });
  }
  showScores(context, scores, { models, refused });
  if (svg !== undefined) context.out.note(`The reliability diagram is in ${svg}.`);
}

function showScores(
  { out, io }: Context,
  scores: Scores,
  { models, refused }: { models: string[]; refused: number },
): void {
  const { examples, accuracy, nll, brier, ece, coverage } = scores;
  const paint = out.paint.stdout;
  const line = (label: string, value: string, meaning = '') =>
    io.stdout.write(
      `${label.padEnd(10)} ${meaning ? value.padEnd(8) : value} ${meaning && paint('dim', meaning)}`.trimEnd() +
        '\n',
    );
  line('model', models.join(', '));
  line('examples', String(examples), refused > 0 ? `and ${refused} declined` : '');
  if (examples === 0) return;
  line('accuracy', percent(accuracy));
  line('NLL', decimal(nll, 3), 'of the right option, in nats');
  line('Brier', decimal(brier, 3), '0 is perfect, 2 the worst');
  line('ECE', decimal(ece, 3), 'mean gap between confidence and accuracy, 15 bins');
  io.stdout.write(`\n${paint('bold', 'Confidence and right answers')}\n`);
  for (const each of reliabilityLines(scores)) io.stdout.write(`${each}\n`);
  io.stdout.write(`\n${paint('bold', 'If only confident answers are used')}\n`);
  for (const each of coverage) {
    io.stdout.write(
      `  ${percent(each.coverage).padStart(6)} of the examples, from confidence ${percent(each.confidence).padStart(6)}: ${percent(each.accuracy).padStart(6)} right\n`,
    );
  }
}

/** A line per bin with answers: its confidence, how many were right, and a bar of the latter. */
export function reliabilityLines({ bins }: Scores): string[] {
  const shown = bins.filter(({ count }) => count > 0);
  const width = Math.max(...shown.map(({ count }) => String(count).length));
  return shown.map(({ confidence, accuracy, count }) => {
    const label = `${percent(confidence).padStart(6)}  ${percent(accuracy).padStart(6)}`;
    const gap = accuracy - confidence;
    const points = Math.round(gap * 100);
    const sign = points > 0 ? '+' : '';
    return `  ${label}  ${String(count).padStart(width)}  ${bar(accuracy)} ${sign}${points}`;
  });
}

const side = 320;
const margin = 48;

/** The reliability diagram as an SVG document: accuracy by confidence, and the diagonal of perfect calibration. */
export function reliabilitySvg({ bins, ece, examples }: Scores, title: string): string {
  const size = side + 2 * margin;
  const x = (value: number) => (margin + value * side).toFixed(1);
  const y = (value: number) => (margin + (1 - value) * side).toFixed(1);
  const most = Math.max(...bins.map(({ count }) => count));
  const columns = bins
    .filter(({ count }) => count > 0)
    .map(({ from, to, accuracy, confidence, count }) => {
      const opacity = (0.25 + (0.75 * count) / most).toFixed(2);
      const width = ((to - from) * side - 1).toFixed(1);
      const tip = `${count} answers, confidence ${percent(confidence)}, right ${percent(accuracy)}`;
      return `  <rect x="${x(from)}" y="${y(accuracy)}" width="${width}" height="${(accuracy * side).toFixed(1)}" fill="#2563eb" fill-opacity="${opacity}"><title>${tip}</title></rect>`;
    });
  const ticks = [0, 0.25, 0.5, 0.75, 1].flatMap((value) => [
    `  <text x="${x(value)}" y="${size - margin + 16}" text-anchor="middle">${value}</text>`,
    `  <text x="${margin - 8}" y="${Number(y(value)) + 4}" text-anchor="end">${value}</text>`,
  ]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" width="${size}" height="${size}" font-family="sans-serif" font-size="12">`,
    `  <rect width="${size}" height="${size}" fill="#ffffff"/>`,
    `  <text x="${size / 2}" y="22" text-anchor="middle" font-size="14">${escaped(title)}</text>`,
    `  <text x="${size / 2}" y="40" text-anchor="middle" fill="#555555">${examples} examples, ECE ${decimal(ece, 3)}</text>`,
    ...columns,
    `  <rect x="${margin}" y="${margin}" width="${side}" height="${side}" fill="none" stroke="#999999"/>`,
    `  <line x1="${x(0)}" y1="${y(0)}" x2="${x(1)}" y2="${y(1)}" stroke="#dc2626" stroke-dasharray="4 4"/>`,
    ...ticks,
    `  <text x="${size / 2}" y="${size - 10}" text-anchor="middle">confidence</text>`,
    `  <text x="14" y="${size / 2}" text-anchor="middle" transform="rotate(-90 14 ${size / 2})">right answers</text>`,
    '</svg>',
    '',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
