import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import { formatUsd, parseUsd } from '../../../shared/money/money.ts';
import {
  isReplayed,
  parseSetting,
  prepareReplay,
  type ReplayedEndpoint,
  replayedHeaders,
  whyNotRepeatable,
} from '../../../shared/replay/prepare-replay.ts';
import { duration } from '../../../view/durations.ts';
import { dollars } from '../../../view/money.ts';
import { type CapturedRequest, capturedRequest } from '../../content/call-content.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import { example, wholeNumber } from '../../options.ts';
import { startSpinner } from '../../output/progress.ts';
import { editText } from '../../terminal/editor.ts';
import { confirm } from '../../terminal/prompts.ts';
import { usdAmount } from '../credit.ts';
import { makeCall, previewCost, type ReplayCall, type ReplayOutcome } from './replay-call.ts';
import { showOutcomes } from './replay-results.ts';

/** Above this, the user is asked. */
const freelySpent = '0.10';
const repeatsMax = 20;
const modelsMax = 8;

export const replayTraceCommand = (context: Context) =>
  new Command('replay')
    .argument('<call>', 'the id of a call whose content is kept: req_…')
    .option('-m, --model <model>', 'the model to ask instead; can be repeated, to compare answers', collect)
    .option('--set <member=value>', 'change a member of the request: temperature=0; can be repeated', setting)
    .option('--edit', 'change the request in $VISUAL or $EDITOR before it is sent')
    .option(
      '--repeat <count>',
      'make each call as often, to see how the answers vary',
      wholeNumber({ min: 1, max: repeatsMax }),
      1,
    )
    .addOption(
      new Option('--cache <mode>', 'how to use the response cache')
        .choices(['off', 'read-only', 'read-write'] as const)
        .default('off' as const),
    )
    .option('--store', 'store the responses, if their format can be stored')
    .option('--max-usd <amount>', 'make the calls without asking if they cost at most as much', usdAmount)
    .option('-y, --yes', 'make the calls without asking, whatever they cost')
    .addHelpText(
      'after',
      example('gateway calls replay req_01jd… --model openai/gpt-5 --set temperature=0 --max-usd 2'),
    )
    .action(async (request, options) => replay(context, request, options));

function collect(model: string, models: string[] = []): string[] {
  if (models.length === modelsMax) throw new InvalidArgumentError(`At most ${modelsMax} models.`);
  return [...models, model];
}

type Setting = { path: string; value: unknown };

function setting(text: string, settings: Setting[] = []): Setting[] {
  const parsed = parseSetting(text);
  if (!parsed) throw new InvalidArgumentError('It must be a member and its value, such as temperature=0.');
  return [...settings, parsed];
}

interface ReplayOptions {
  model?: string[] | undefined;
  set?: Setting[] | undefined;
  edit?: true | undefined;
  repeat: number;
  cache: 'off' | 'read-only' | 'read-write';
  store?: true | undefined;
  maxUsd?: string | undefined;
  yes?: true | undefined;
}

async function replay(context: Context, request: string, options: ReplayOptions): Promise<void> {
  const captured = await capturedRequest(context.client(), request);
  const { endpoint } = captured;
  if (!isReplayed(endpoint))
    throw new CliError(`Calls of ${endpoint} cannot be repeated.`, { exit: exitCodes.failed });
  const body = await bodyOf(context, captured, { request, isEdited: options.edit === true });
  if (threadIn(body)) context.out.note('The earlier messages of its thread are not sent.');
  const headers = { ...replayedHeaders(captured.headers), 'x-service-replay-of': request };
  const plan = plannedCalls(endpoint, body, options).map((call) => ({ ...call, headers }));
  const mostUsd = await approve(context, plan, options);
  const outcomes = await makeCalls(context, plan, options.repeat);
  await showOutcomes(context, { replayOf: request, mostUsd, outcomes });
  const failed = outcomes.filter(({ error }) => error !== null).length;
  if (context.isInterrupted) context.exit = exitCodes.interrupted;
  else if (failed > 0) context.exit = failed === outcomes.length ? exitCodes.failed : exitCodes.partlyDone;
}

type Json = Record<string, unknown>;

function threadIn(body: Json): boolean {
  const { service, conversation } = body as { service?: { thread?: unknown } | null; conversation?: unknown };
  return Boolean(service?.thread ?? conversation);
}

/** The request, as the user left it. Fails for one that was redacted or cut, and was not edited since. */
async function bodyOf(
  context: Context,
  { text, isPartial }: CapturedRequest,
  { request, isEdited }: { request: string; isEdited: boolean },
): Promise<Json> {
  if (text === null)
    throw new CliError('The request is not kept: it was too long.', { exit: exitCodes.failed });
  const problem = whyNotRepeatable(text, isPartial);
  if (!isEdited) {
    if (problem === undefined) return JSON.parse(text) as Json;
    throw new CliError(`It cannot be repeated as it was. ${problem}`, {
      exit: exitCodes.failed,
      next: `Put in what is missing: gateway calls replay ${request} --edit`,
    });
  }
  if (problem !== undefined) context.out.warn(`${problem} Put in what is missing.`);
  const shown = `${readable(text)}\n`;
  const edited = await editText(context, `${request}.json`, shown);
  const remaining = edited === shown ? problem : whyNotRepeatable(edited, false);
  if (remaining !== undefined)
    throw new CliError(`Nothing was sent. ${remaining}`, { exit: exitCodes.failed });
  return JSON.parse(edited) as Json;
}

function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function plannedCalls(
  endpoint: ReplayedEndpoint,
  request: Json,
  { model: models, set, cache, store }: ReplayOptions,
): Omit<ReplayCall, 'headers'>[] {
  return (models ?? [undefined]).map((model) => {
    try {
      const body = prepareReplay(endpoint, request, { model, set, cache, store });
      return { endpoint, body, model: String(body.model ?? '') };
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause;
      throw new CliError(cause.message, { exit: exitCodes.usage, cause });
    }
  });
}

/** Shows the highest cost, and asks above a few cents. Resolves to it; null if it is not known. */
async function approve(
  context: Context,
  plan: readonly ReplayCall[],
  { repeat, maxUsd, yes }: ReplayOptions,
): Promise<string | null> {
  const previews = await Promise.all(plan.map((call) => previewCost(context, call)));
  const bounds = previews.map(({ cost_usd_max: most }) => (most === null ? undefined : parseUsd(most)));
  const unknown = plan.filter((_call, at) => bounds[at] === undefined).map(({ model }) => model);
  const most = repeat * bounds.reduce<number>((sum, bound) => sum + (bound ?? 0), 0);
  const calls = plan.length * repeat;
  const text = unknown.length > 0 ? null : formatUsd(most);
  const many = calls === 1 ? '' : `, for ${calls} calls`;
  if (text === null) context.out.note(`The highest cost is not known: no price of ${unknown.join(', ')}.`);
  else if (most > 0) context.out.note(`Costs at most ${dollars(text)}${many}.`);
  if (yes) return text;
  if (text !== null && maxUsd !== undefined) {
    if (most <= (parseUsd(maxUsd) ?? 0)) return text;
    throw new CliError(`It may cost ${dollars(text)}${many}, more than --max-usd ${maxUsd}.`, {
      exit: exitCodes.refused,
      next: 'Allow more, or bound the answer: --set max_tokens=500 or --set max_output_tokens=500',
    });
  }
  if (text !== null && most <= (parseUsd(freelySpent) ?? 0)) return text;
  await ask(context, text, calls);
  return text;
}

async function ask(context: Context, most: string | null, calls: number): Promise<void> {
  const what = calls === 1 ? 'Make the call' : `Make ${calls} calls`;
  const { stdin } = context.io;
  if (stdin.isTty && context.out.isInteractive())
    return await confirm(context, most === null ? `${what}?` : `${what} for at most ${dollars(most)}?`, {});
  throw new CliError(
    most === null
      ? 'The highest cost is not known.'
      : `It may cost ${dollars(most)}, more than ${dollars(freelySpent)}.`,
    {
      exit: exitCodes.usage,
      next: most === null ? 'Allow it: --yes' : `Allow it: --max-usd ${most}`,
    },
  );
}

/** Models are asked side by side, each one call after another. After Ctrl-C, with the calls that ended until then. */
async function makeCalls(
  context: Context,
  plan: readonly ReplayCall[],
  repeat: number,
): Promise<ReplayOutcome[]> {
  const signal = context.interrupted();
  const outcomes: ReplayOutcome[][] = plan.map(() => []);
  const startedAt = context.now();
  const done = () => outcomes.reduce((sum, { length }) => sum + length, 0);
  const spinner =
    context.out.isInteractive() && !context.out.isQuiet()
      ? startSpinner(context.io, () => {
          const time = duration(context.now() - startedAt);
          return `${done()} of ${plan.length * repeat} answered · ${time}`;
        })
      : undefined;
  try {
    await Promise.all(
      plan.map(async (call, at) => {
        for (let made = 0; made < repeat && !signal.aborted; made += 1)
          outcomes[at]?.push(await makeCall(context, call, signal));
      }),
    );
  } catch (error) {
    if (!signal.aborted) throw error;
    context.out.warn('Cancelled.');
  } finally {
    spinner?.stop();
  }
  return outcomes.flat();
}
