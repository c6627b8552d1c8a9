import { Command, Option } from '@commander-js/extra-typings';
import type { Decision } from '../../../shared/contract/decisions.ts';
import { createDecision } from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../failures/cli-error.ts';
import { example, wholeNumber } from '../../options.ts';
import { pipedText, typedStdin } from '../../terminal/piped-input.ts';
import { decideLines } from './batch.ts';
import { chooseDecisionModel, decisionModel, modelDefault } from './choose-decision-model.ts';
import { textOfFile } from './files.ts';
import {
  collectOptions,
  type Question,
  type QuestionFlags,
  questionFlags,
  questionsOf,
} from './questions.ts';
import { bareAnswer, howDecided, showDecision } from './show-decision.ts';

export const decideCommand = (context: Context) =>
  new Command('ask')
    .usage('[options] [question]')
    .argument('[question]', 'what is asked about the input')
    .option(
      '-m, --model <model>',
      `a model, or the host’s engine (default: GATEWAY_DECISION_MODEL, then ${modelDefault})`,
    )
    .option('--predicate', 'ask whether it is true; the default')
    .option(
      '--choice <options>',
      'ask which applies: a,b,c; repeat it for options with a description: "a: …"',
      collectOptions,
    )
    .option('--levels <levels>', 'ask for a level, lowest first: low,mid,high', collectOptions)
    .option('--questions <file>', 'ask the questions in a JSON file')
    .option('-i, --input <file>', 'the input (default: what is piped in)')
    .option('-t, --text <text>', 'the input itself')
    .option('--exit-status', 'exit with 0 if the statement is true, and with 1 if not')
    .option('--threshold <probability>', 'from which probability on it is true (default: 0.5)', probability)
    .option('--lines', 'decide about each line of the input; prints a line of JSON for each')
    .option('--ndjson', 'the same for lines with a JSON object that has `input`, and perhaps `id`')
    .option('--concurrency <count>', 'lines at a time (default: 4)', wholeNumber({ min: 1, max: 64 }))
    .option('-o, --output <file>', 'append the lines to a file; a stopped run continues after the last one')
    .addOption(
      new Option('--debias <mode>', 'whether to remove the influence of the order').choices([
        'auto',
        'off',
        'full',
      ]),
    )
    .addOption(new Option('--order <order>', 'which sources to ask').choices(['peer', 'hosted']))
    .addHelpText('after', example('gateway decide ask "Which team?" --choice billing,tech,sales < mail.txt'))
    .action((question, flags) => decide(context, question, flags));

interface DecideFlags extends QuestionFlags {
  model?: string | undefined;
  input?: string | undefined;
  text?: string | undefined;
  exitStatus?: true | undefined;
  threshold?: number | undefined;
  lines?: true | undefined;
  ndjson?: true | undefined;
  concurrency?: number | undefined;
  output?: string | undefined;
  debias?: 'auto' | 'off' | 'full' | undefined;
  order?: 'peer' | 'hosted' | undefined;
}

async function decide(context: Context, instructions: string | undefined, flags: DecideFlags): Promise<void> {
  const questions = questionsOf(instructions, flags);
  checkFlags(questions, flags);
  // What is wrong in a file of questions is a member there, not an option.
  if (flags.questions) context.inputs = context.inputs.filter((name) => !questionFlags.includes(name));
  const { model: named, order, debias } = flags;
  const isBatch = flags.lines ?? flags.ndjson ?? false;
  const input = isBatch ? undefined : await inputOf(context, flags);
  if (input?.trim() === '') throw noInput();
  const body = {
    // Who names the sources wants no others.
    model: order ? decisionModel(context, named) : await chooseDecisionModel(context, named),
    questions,
    ...(debias && { service: { debias } }),
  };
  if (input === undefined) {
    return await decideLines(context, {
      body,
      order,
      format: flags.ndjson ? 'ndjson' : 'lines',
      concurrency: flags.concurrency ?? 4,
      output: flags.output,
    });
  }
  const headers = order ? { 'X-Decision-Order': order } : {};
  const signal = context.interrupted();
  const decision = await context
    .client()
    .call(createDecision, { headers, body: { ...body, input } }, { signal });
  await show(context, questions, decision);
  if (flags.exitStatus) context.exit = isTrue(decision, flags.threshold) ? exitCodes.done : exitCodes.failed;
}

async function show(
  { out, io, ...context }: Context,
  questions: Question[],
  decision: Decision,
): Promise<void> {
  if (out.isQuiet()) {
    for (const answer of decision.answers) out.text(`${bareAnswer(answer)}\n`);
    return;
  }
  if (out.wantsJson() || !io.stdout.isTty) return await out.document(decision);
  showDecision({ out, io, ...context }, questions, decision);
  out.note(howDecided(decision));
}

function isTrue({ answers: [answer] }: Decision, threshold = 0.5): boolean {
  if (answer?.type === 'predicate') return answer.probability >= threshold;
  throw new CliError('The model declined to answer.', { exit: exitCodes.refused });
}

function checkFlags(
  questions: Question[],
  { exitStatus, threshold, lines, ndjson, output, concurrency, input, text }: DecideFlags,
): void {
  const isBatch = lines ?? ndjson ?? false;
  if (lines && ndjson) throw usageError('Only one of --lines and --ndjson can be used.');
  if (!isBatch && (output ?? concurrency) !== undefined)
    throw usageError('--output and --concurrency need --lines or --ndjson.');
  if (isBatch && (input ?? text) !== undefined)
    throw usageError('--lines and --ndjson read what is piped in.');
  if (input !== undefined && text !== undefined)
    throw usageError('Only one of --input and --text can be used.');
  if (threshold !== undefined && !exitStatus) throw usageError('--threshold needs --exit-status.');
  if (exitStatus && (isBatch || questions.length !== 1 || questions[0]?.type !== 'predicate'))
    throw usageError('--exit-status needs a single question that is true or not.');
}

async function inputOf(context: Context, { input, text }: DecideFlags): Promise<string> {
  if (text !== undefined) return text;
  if (input !== undefined && input !== '-') return textOfFile(input);
  if (!context.io.stdin.isTty) return await pipedText(context, typedStdin);
  throw noInput();
}

function noInput(): CliError {
  return usageError('There is no input to decide about.', 'Pipe it in, or use --text or --input FILE.');
}

function probability(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && value <= 1) return value;
  throw usageError('--threshold must be a number from 0 to 1.');
}
