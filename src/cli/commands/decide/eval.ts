import { closeSync, openSync, writeFileSync } from 'node:fs';
import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import { example, wholeNumber } from '../../manifest/options.ts';
import { decisionModel } from './decide.ts';
import { askExamples, readExamples } from './examples.ts';
import { collectOptions, type QuestionFlags, questionsOf } from './questions.ts';
import { reliabilityLines, reliabilitySvg } from './reliability.ts';
import { type Scores, scoresOf } from './scores.ts';
import { percent } from './show-decision.ts';

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
  if (svg !== undefined) requireWritable(svg);
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

function requireWritable(file: string): void {
  try {
    closeSync(openSync(file, 'a'));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new CliError(`The diagram cannot be written to ${file} (${code}).`, {
      exit: exitCodes.usage,
      cause,
    });
  }
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
  line('NLL', nll.toFixed(3), 'of the right option, in nats');
  line('Brier', brier.toFixed(3), '0 is perfect, 2 the worst');
  line('ECE', ece.toFixed(3), 'mean gap between confidence and accuracy, 15 bins');
  io.stdout.write(`\n${paint('bold', 'Confidence and right answers')}\n`);
  for (const each of reliabilityLines(scores)) io.stdout.write(`${each}\n`);
  io.stdout.write(`\n${paint('bold', 'If only confident answers are used')}\n`);
  for (const each of coverage) {
    io.stdout.write(
      `  ${percent(each.coverage).padStart(6)} of the examples, from confidence ${percent(each.confidence).padStart(6)}: ${percent(each.accuracy).padStart(6)} right\n`,
    );
  }
}
