import { readFileSync } from 'node:fs';
import { decimal, percent } from '../../../view/numbers.ts';
import { howDecided, optionRows } from '../../commands/decide/show-decision.ts';
import { escapeCell } from '../../output/escape-controls.ts';
import { widthOf } from '../../output/width.ts';
import { fitCell, fitPainted, untrustedLines } from '../text/cells.ts';
import { bar } from '../text/charts.ts';
import type { ListColumn } from '../text/list-table.ts';
import type { RenderOptions } from '../text/render-options.ts';
import { shellWord } from './call-as-shell.ts';
import {
  type AskedQuestion,
  DecisionPlayground,
  type Outcome,
  parseQuestion,
} from './decision-playground.ts';
import type { Page, Screen } from './screen.ts';

interface DecisionsOptions {
  /** The model that is asked until the user names others. */
  decisionModel: string;
}

/** Typed decisions: questions about a text, with the answers of several models side by side. */
export function decisionsScreen({ decisionModel }: DecisionsOptions): Screen<AskedQuestion> {
  const playground = new DecisionPlayground([decisionModel]);
  return {
    id: 'decisions',
    title: 'Decisions',
    letter: 'd',
    aliases: ['decide', 'playground'],
    empty: [
      'No questions yet. Press e to enter a text, then c to ask about it:',
      'Is this a complaint?',
      'Which team should answer? --choice billing,tech,sales',
      'How urgent is it? --levels can wait,soon,today',
      'r names the models to compare. Decisions are free.',
    ],
    footer: ['open', 'compose', 'edit', 'reply', 'remove', 'copy-command'],
    columns: () => [questionColumn, ...playground.models.map(answerColumn)],
    live: () => playground.rows,
    idOf: ({ id }) => id,
    copyText: ({ question }) => question.instructions,
    commandText: (row) => commandLine(row, playground),
    json: ({ question, outcomes }) => ({
      input: playground.input,
      question,
      outcomes: Object.fromEntries([...outcomes].map(([model, outcome]) => [model, jsonOf(outcome)])),
    }),
    summary: (_rows, _services, options) => summaryLines(playground, options),
    preview: (row, options) => comparison(row, playground.models, options),
    open: async (row) => questionPage(row, playground),
    compose: {
      label: 'ask',
      placeholder: 'Is it a complaint?   Which team? --choice a,b   How urgent? --levels a,b,c',
      run: (line, services) => playground.add(parseQuestion(line), services),
    },
    edit: {
      label: 'input',
      placeholder: 'the text that the questions are about, or @FILE',
      initial: () => playground.input.replace(/\s+/g, ' '),
      run: (line, services) => playground.setInput(inputIn(line, playground.input), services),
    },
    reply: {
      label: 'models',
      placeholder: 'the models to compare: service/decide, sim/assistant',
      initial: () => playground.models.join(', '),
      run: (line, services) => playground.setModels(modelsIn(line), services),
    },
    remove: {
      question: (rows) => (rows.length === 1 ? 'Remove this question?' : `Remove ${rows.length} questions?`),
      verb: 'Remove',
      async run(rows) {
        playground.remove(rows);
        return rows.length === 1 ? 'Removed.' : `Removed ${rows.length} questions.`;
      },
    },
  };
}

function questionPage(row: AskedQuestion, playground: DecisionPlayground): Page {
  const { instructions } = row.question;
  return {
    title: instructions,
    lines: (options) => [
      ...untrustedLines(instructions, options.width).map((line) => options.paint('bold', line)),
      '',
      ...comparison(row, playground.models, options),
      '',
      ...untrustedLines(playground.input, options.width).map((line) => options.paint('dim', line)),
    ],
    updates: {
      async reload() {
        const current = playground.rows.find(({ id }) => id === row.id);
        return questionPage(current ?? row, playground);
      },
    },
  };
}

/** A line is the input itself, or the file that it names. */
function inputIn(line: string, before: string): string {
  const [, path] = /^@(\S.*)$/.exec(line.trimEnd()) ?? [];
  if (path === undefined) {
    const text = line.trim();
    if (text === '') throw new Error('Type or paste a text first.');
    // Submitted as it was shown: the line breaks of a file stay.
    return text === before.replace(/\s+/g, ' ').trim() ? before : text;
  }
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Error(`${path} cannot be read. Start a text with a space if it begins with @.`, { cause });
  }
}

function modelsIn(line: string): string[] {
  const models = line.split(/[\s,]+/).filter((name) => name !== '');
  if (models.length === 0) throw new Error('Name at least one model.');
  return [...new Set(models)];
}

function summaryLines(
  { input, models }: Pick<DecisionPlayground, 'input' | 'models'>,
  { width, paint }: RenderOptions,
): string[] {
  const line = (label: string, text: string) => fitPainted(paint('dim', label.padEnd(8)) + text, width);
  return [
    line('Input', input === '' ? paint('dim', 'none; press e') : escapeCell(input.replace(/\s+/g, ' '))),
    line('Models', escapeCell(models.join(' · '))),
  ];
}

const questionColumn: ListColumn<AskedQuestion> = {
  title: 'question',
  width: 22,
  grows: true,
  text: ({ question }) => question.instructions,
};

const barCells = 6;

/** Models that do not fit are on the page of the question. */
function answerColumn(model: string, at: number): ListColumn<AskedQuestion> {
  const outcomeOf = ({ outcomes }: AskedQuestion) => outcomes.get(model);
  return {
    title: model,
    width: 25,
    ...(at > 0 && { spare: at }),
    isChart: true,
    text: (row, options) => outcomeText(outcomeOf(row), options),
    style: (row) => (outcomeOf(row)?.state === 'failed' ? 'red' : undefined),
  };
}

/** The most probable option, of a score after the expected level: `█████░   81 % billing`, `████░░ 66.5 % 1.70 today`. */
function outcomeText(outcome: Outcome | undefined, { isPlain }: RenderOptions): string {
  if (outcome === undefined) return '–';
  if (outcome.state === 'asking') return 'asking…';
  if (outcome.state === 'failed') return `failed: ${outcome.code}`;
  const { answer } = outcome;
  const top = optionRows(answer).find(({ isTop }) => isTop);
  if (!top) return 'declined';
  const chart = isPlain ? '' : `${bar(top.probability, barCells)} `;
  const score = answer.type === 'score' ? `${decimal(answer.score, 2)} ` : '';
  return `${chart}${percent(top.probability).padStart(percentWidth)} ${score}${top.label}`;
}

const gap = '  ';
const labelWidthMax = 20;
/** Model, bar and percentage. */
const comparedWidthMin = 20;
const comparedWidthMax = 40;

/** A bar for each option and model, models side by side as far as they fit, and how each of them answered. */
function comparison(row: AskedQuestion, models: readonly string[], options: RenderOptions): string[] {
  const { width, paint } = options;
  const answered = models.filter((model) => row.outcomes.get(model)?.state === 'answered');
  const rowsOf = (model: string) => {
    const outcome = row.outcomes.get(model);
    return outcome?.state === 'answered' ? optionRows(outcome.answer) : [];
  };
  const labels = answered.map(rowsOf).find((rows) => rows.length > 0) ?? [];
  const labelWidth = Math.min(labelWidthMax, Math.max(0, ...labels.map(({ label }) => widthOf(label))));
  const room = width - labelWidth;
  const perBand = Math.max(1, Math.floor(room / (comparedWidthMin + gap.length)));
  const lines: string[] = [];
  for (let from = 0; from < answered.length; from += perBand) {
    const band = answered.slice(from, from + perBand);
    const cell = Math.max(8, Math.min(comparedWidthMax, Math.floor(room / band.length) - gap.length));
    const joined = (label: string, cells: string[]) =>
      [fitCell(escapeCell(label), labelWidth), ...cells].join(gap);
    if (from > 0) lines.push('');
    lines.push(
      paint(
        'bold',
        joined(
          '',
          band.map((model) => fitCell(escapeCell(model), cell)),
        ),
      ),
    );
    labels.forEach(({ label }, at) => {
      const cells = band.map((model) => {
        const option = rowsOf(model)[at];
        if (!option) return fitCell(at === 0 ? 'declined' : '', cell);
        const text = optionCell(option.probability, cell, options);
        return option.isTop ? paint('green', text) : text;
      });
      lines.push(joined(label, cells));
    });
    if (row.question.type === 'score') {
      const scores = band.map((model) => {
        const outcome = row.outcomes.get(model);
        const isScore = outcome?.state === 'answered' && outcome.answer.type === 'score';
        return fitCell(isScore ? scoreText(outcome.answer) : '', cell);
      });
      lines.push(joined('score', scores));
    }
    if (labels.length === 0)
      lines.push(
        joined(
          '',
          band.map(() => fitCell('declined', cell)),
        ),
      );
  }
  return [
    ...lines,
    ...(lines.length > 0 ? [''] : []),
    ...models.flatMap((model) => factLines(row, model, options)),
  ];
}

function scoreText(answer: { type: string; score?: number }): string {
  return answer.score === undefined ? '' : decimal(answer.score, 2);
}

const percentWidth = 6;

function optionCell(probability: number, width: number, { isPlain }: RenderOptions): string {
  const text = percent(probability).padStart(percentWidth);
  return fitCell(isPlain ? text.trim() : `${bar(probability, width - percentWidth - 1)} ${text}`, width);
}

/** How a model answered, or why it did not. */
function factLines({ outcomes }: AskedQuestion, model: string, { width, paint }: RenderOptions): string[] {
  const outcome = outcomes.get(model);
  if (outcome === undefined) return untrustedLines(`${model}: not asked yet`, width);
  if (outcome.state === 'asking') return untrustedLines(`${model}: asking…`, width);
  if (outcome.state === 'failed') {
    return untrustedLines(`${model}: ${outcome.message}`, width).map((line) => paint('red', line));
  }
  const { decision, at } = outcome;
  const { permutations, truncated, samples, agreement, temperature } = decision.service.diagnostics[at] ?? {};
  const facts = [
    ...(permutations === undefined || permutations === 1 ? [] : [`options in ${permutations} orders`]),
    ...(truncated ? ['some options estimated'] : []),
    ...(samples === undefined ? [] : [`${samples} ${samples === 1 ? 'answer' : 'answers'} sampled`]),
    ...(agreement === undefined ? [] : [`${percent(agreement)} agree`]),
    ...(temperature === undefined ? [] : [`temperature ${decimal(temperature, 2)}`]),
  ];
  const asked = decision.model === model ? '' : `${model}: `;
  return untrustedLines(`${asked}${[howDecided(decision), ...facts].join(' · ')}`, width).map((line) =>
    paint('dim', line),
  );
}

function jsonOf(outcome: Outcome): unknown {
  if (outcome.state !== 'answered') return outcome;
  const { decision, answer, at } = outcome;
  const { diagnostics, ...service } = decision.service;
  return { model: decision.model, answer, service, diagnostics: diagnostics[at] };
}

/** For the first model: a command asks one. */
function commandLine(
  { question }: AskedQuestion,
  { input, models }: Pick<DecisionPlayground, 'input' | 'models'>,
): string {
  const [model] = models;
  const words = ['gateway', 'decide', question.instructions];
  const options =
    question.type === 'predicate'
      ? []
      : question.type === 'choice'
        ? question.choices.map(({ value, description }) => ({ label: String(value), description }))
        : question.levels;
  for (const { label, description } of options) {
    words.push(question.type === 'choice' ? '--choice' : '--levels');
    words.push(description === undefined ? label : `${label}: ${description}`);
  }
  if (model !== undefined) words.push('--model', model);
  if (input !== '') words.push('--text', input);
  return words.map(shellWord).join(' ');
}
