import { Argument, Command, Option } from '@commander-js/extra-typings';
import type { CreateResponseBody, ResponseResource } from '../../../shared/contract/responses.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { receivedError } from '../../../shared/received-error.ts';
import { createResponse } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import { example, wholeNumber } from '../../manifest/options.ts';
import { type Following, failureOf, followAnswer, textOfResponse } from './answer.ts';
import { billOfResponse, tellCancelled } from './bill.ts';
import { keepPictures, picturesOption, preparePictures } from './pictures.ts';
import { showProgress } from './progress.ts';
import { type RequestFlags, requestBody } from './request-body.ts';

// Not `<path...>`: that would take the prompt for one more file.
const collect = (path: string, paths: string[] = []): string[] => [...paths, path];

export const respondCommand = (context: Context) =>
  new Command('respond')
    .addArgument(new Argument('[prompt...]', 'what to ask; piped input is put after it'))
    .option('-m, --model <model>', 'the model to ask; else GATEWAY_MODEL, else the daemon’s default')
    .option('--stream', 'write the answer as it comes, as on a terminal; with --json an event a line')
    .option('--no-stream', 'ask for the whole answer at once')
    .option('-i, --instructions <text>', 'instructions that stand before the prompt')
    .option('--json-schema <file>', 'a JSON schema that the answer must fit')
    .option('-f, --file <path>', 'an image, PDF or text to ask about; can be repeated', collect)
    .option(...picturesOption)
    .option('--tools <file>', 'a JSON list of the functions that the model may call')
    .option('--max-output-tokens <count>', 'the longest answer, reasoning included', wholeNumber({ min: 1 }))
    .option('--reasoning-effort <effort>', 'how long a reasoning model thinks, like low or high')
    .addOption(new Option('--pay <whose>', 'whose provider key pays').choices(['mine', 'ours'] as const))
    .addOption(
      new Option('--cache <mode>', 'whether the answer may come from the cache, and is kept there').choices([
        'off',
        'read-only',
        'read-write',
      ] as const),
    )
    .option('--store', 'keep the response, as is usual')
    .option('--no-store', 'do not keep the response')
    .option('--background', 'have it made without waiting: prints its id, or with --stream its events')
    .option(
      '--idempotency-key <key>',
      'make the call once, however often it is sent with this key; not streamed',
    )
    .option('--previous <id>', 'the response that this one continues')
    .option('--thread <thread>', 'the thread that this is said in; `new` makes one and tells its id')
    .option('-n, --no-stdin', 'leave the standard input alone')
    .addHelpText(
      'after',
      example('git diff | gateway respond "Write a commit message." --model sim/assistant'),
    )
    .action((words, options) => respondAndShow(context, { prompt: words.join(' '), ...options }));

export interface RespondFlags extends RequestFlags {
  /** Left out, it is streamed where a person waits. */
  stream?: boolean | undefined;
  idempotencyKey?: string | undefined;
  /** The folder for pictures that the model draws. */
  pictures?: string | undefined;
}

/** Asks a model and shows the answer. Ctrl-C ends the call upstream too and tells what it cost. */
export async function respondAndShow(context: Context, flags: RespondFlags): Promise<void> {
  checkFlags(flags);
  const body = await requestBody(context, flags);
  preparePictures(flags.pictures);
  if (flags.background && flags.stream !== true) return beginInBackground(context, flags, body);
  const following: Following = { requestId: undefined, response: undefined, error: undefined };
  const signal = context.interrupted();
  const startedAt = context.now();
  const progress = showProgress(context, body);
  const options = {
    signal,
    onOpen: (headers: Record<string, string>) => {
      following.requestId = headers['x-request-id'];
      following.replayOf = headers['x-service-replay-of'];
    },
  };
  try {
    if (flags.stream ?? (context.out.isInteractive() && flags.idempotencyKey === undefined)) {
      const events = context
        .client()
        .stream(createResponse, { headers: {}, body: { ...body, stream: true } }, options);
      await followAnswer(context, { events, following, progress, isLive: isLive(context, flags) });
    } else {
      following.response = await context
        .client()
        .call(createResponse, { headers: onceHeaders(flags), body: { ...body, stream: false } }, options);
      progress.stop();
      await showWhole(context, following.response);
    }
  } catch (error) {
    if (!signal.aborted) throw failureOf(following, error);
    progress.stop();
    context.exit = exitCodes.interrupted;
    if (flags.background) return context.out.warn('It is made to its end: gateway responses watch ID');
    return tellCancelled(context, following.requestId);
  } finally {
    progress.stop();
  }
  if (following.response) keepPictures(context, following.response, flags.pictures);
  tellEnd(context, following, context.now() - startedAt);
}

function checkFlags({ stream, idempotencyKey, background, pictures }: RespondFlags): void {
  if (stream && idempotencyKey !== undefined)
    throw new CliError('A streamed answer is not kept for a key: leave out --stream or --idempotency-key.', {
      exit: exitCodes.usage,
    });
  if (background && !stream && pictures !== undefined)
    throw new CliError('With --background there are no pictures yet that --pictures could write.', {
      exit: exitCodes.usage,
      next: 'Leave it out, and later: gateway responses watch ID --pictures FOLDER',
    });
}

/** Whether text is written as it comes. */
export function isLive({ io, out }: Context, { stream }: Pick<RespondFlags, 'stream'>): boolean {
  return stream ?? (io.stdout.isTty && !out.wantsJson());
}

/** Shows a response that was received in one piece. */
export async function showWhole(context: Context, response: ResponseResource): Promise<void> {
  if (context.out.wantsJson()) await context.out.document(response);
  else context.out.text(textOfResponse(response));
}

/** After the answer: what it cost, and what is wrong with it. */
export function tellEnd(context: Context, following: Following, tookMs: number): void {
  const { response, requestId, replayOf, error } = following;
  if (response) context.out.note(billOfResponse(response, { requestId: replayOf ?? requestId, tookMs }));
  if (replayOf !== undefined) context.out.note('This answer was given before, and is not charged again.');
  if (response?.status === 'cancelled') {
    context.out.warn('The response was cancelled.');
    context.exit = exitCodes.partlyDone;
  }
  if (response?.status === 'incomplete') {
    context.out.warn(
      `The answer is incomplete: ${response.incomplete_details?.reason ?? 'it was cut short'}.`,
    );
    context.exit = exitCodes.partlyDone;
  }
  const failure = error ?? (response?.status === 'failed' ? response.error : undefined);
  if (!failure) return;
  const headers: Record<string, string> = requestId === undefined ? {} : { 'x-request-id': requestId };
  throw failureOf(following, receivedError(500, headers, JSON.stringify({ error: failure })));
}

/**
 * Has a response made and prints its id. It is begun as a stream that is left at once, so that its events are kept and
 * can be watched; with an idempotency key it is not, as streams are not kept for one.
 */
export async function beginInBackground(
  context: Context,
  flags: RespondFlags,
  body: CreateResponseBody,
): Promise<void> {
  const isStreamed = flags.stream !== false && flags.idempotencyKey === undefined;
  const headers = onceHeaders(flags);
  const queued = isStreamed
    ? await firstResponse(context, body)
    : await context.client().call(createResponse, { headers, body: { ...body, stream: false } });
  if (context.out.wantsJson()) await context.out.document(queued);
  else context.out.text(`${queued.id}\n`);
  context.out.note(`It is being made: gateway responses watch ${queued.id}`);
}

/** The header that makes a call happen once, if it is asked for. */
export function onceHeaders({ idempotencyKey }: Pick<RespondFlags, 'idempotencyKey'>) {
  return idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
}

async function firstResponse(context: Context, body: CreateResponseBody): Promise<ResponseResource> {
  const events = context.client().stream(createResponse, { headers: {}, body: { ...body, stream: true } });
  for await (const { data } of events) {
    const { response } = JSON.parse(data) as { response?: ResponseResource };
    if (response) return response;
  }
  throw new TypeError('a stream begins with its response');
}
