import { Command } from '@commander-js/extra-typings';
import type { Calibration } from '../../../shared/contract/calibrations.ts';
import { deleteCalibration, listCalibrations, putCalibration } from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { decimal } from '../../../view/numbers.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import { example, wholeNumber } from '../../options.ts';
import type { Column } from '../../output/table.ts';
import { decisionModel } from './choose-decision-model.ts';
import { type Answered, askExamples, powered, readExamples } from './examples.ts';
import { collectOptions, type Question, type QuestionFlags, questionsOf } from './questions.ts';
import { fittedTemperature, nllOf } from './scores.ts';

/** With fewer examples, a temperature says little. */
const examplesMin = 20;

export const fitCommand = (context: Context) =>
  new Command('fit')
    .argument('<file>', 'lines of JSON: {"input", "question", "label"}')
    .argument('[question]', 'the question of lines without one')
    .option('-m, --model <model>', 'a model (default: GATEWAY_DECISION_MODEL, then service/decide)')
    .option('--choice <options>', 'the choices of that question', collectOptions)
    .option('--levels <levels>', 'the levels of that question', collectOptions)
    .option('--concurrency <count>', 'examples at a time (default: 4)', wholeNumber({ min: 1, max: 64 }))
    .option('--dry-run', 'show the temperatures, and do not store them')
    .addHelpText('after', example('gateway decide fit labelled.jsonl --model openai/gpt-5-mini'))
    .action((file, question, flags) => fitModel(context, { file, question }, flags));

interface FitFlags extends QuestionFlags {
  model?: string | undefined;
  concurrency?: number | undefined;
  dryRun?: true | undefined;
}

interface Fitted {
  model: string;
  type: Question['type'];
  temperature: number;
  examples: number;
  nll_before: number;
  nll_after: number;
}

async function fitModel(
  context: Context,
  { file, question }: { file: string; question: string | undefined },
  { model, concurrency = 4, dryRun, ...flags }: FitFlags,
): Promise<void> {
  const [asked] = question === undefined ? [] : questionsOf(question, flags);
  const examples = readExamples(file, asked);
  const { answered } = await askExamples(context, examples, {
    model: decisionModel(context, model),
    concurrency,
  });
  const groups = Object.values(Object.groupBy(answered, (each) => `${each.type} ${each.model}`));
  const fitted = groups.flatMap((group = []) => (group.length >= examplesMin ? [fitOf(group)] : []));
  if (fitted.length === 0) {
    throw new CliError(`At least ${examplesMin} answered examples of one type of question are needed.`, {
      exit: exitCodes.failed,
    });
  }
  if (!dryRun) {
    for (const body of fitted) await context.client().call(putCalibration, { body });
  }
  await context.out.table(fitted, columns, { empty: 'Nothing was fitted.' });
  const skipped = groups.length - fitted.length;
  if (skipped > 0) context.out.warn(`${skipped} with fewer than ${examplesMin} examples were left out.`);
}

/** One temperature for all examples of a group, fitted on the raw probabilities. */
function fitOf(group: readonly Answered[]): Fitted {
  const [first] = group as [Answered, ...Answered[]];
  const at = (temperature: number) =>
    nllOf(group.map(({ raw, right }) => ({ right, probabilities: powered(raw, 1 / temperature) })));
  const temperature = Number(fittedTemperature(at).toFixed(4));
  return {
    model: first.model,
    type: first.type,
    temperature,
    examples: group.length,
    nll_before: at(1),
    nll_after: at(temperature),
  };
}

const columns: Column<Omit<Calibration, 'fitted_at'>>[] = [
  { title: 'model', value: ({ model }) => model },
  { title: 'type', value: ({ type }) => type },
  { title: 'temperature', value: ({ temperature }) => temperature, align: 'right' },
  { title: 'examples', value: ({ examples }) => examples, align: 'right' },
  {
    title: 'nll_before',
    value: ({ nll_before: nll }) => nll,
    show: ({ nll_before: nll }) => decimal(nll, 3),
    align: 'right',
  },
  {
    title: 'nll_after',
    value: ({ nll_after: nll }) => nll,
    show: ({ nll_after: nll }) => decimal(nll, 3),
    align: 'right',
  },
];

export const listFitsCommand = (context: Context) =>
  new Command('fits').addHelpText('after', example('gateway decide fits')).action(async () => {
    const { data } = await context.client().call(listCalibrations, {});
    const fittedAt: Column<Calibration> = { title: 'fitted_at', value: (row) => row.fitted_at };
    await context.out.table(data, [...columns, fittedAt], {
      empty: 'Nothing is fitted yet. To fit a model: gateway decide fit FILE',
    });
  });

export const removeFitCommand = (context: Context) =>
  new Command('remove-fit')
    .argument('<type>', 'predicate, choice or score')
    .argument('<model>', 'the model as answers name it')
    .addHelpText('after', example('gateway decide remove-fit choice openai/gpt-5-mini'))
    .action(async (type, model) => {
      const query = { type: type as Question['type'], model };
      const deleted = await context.client().call(deleteCalibration, { query });
      return context.out.done(deleted, `Questions of type ${type} are no longer calibrated for ${model}.`);
    });
