import { Argument, Command, Option } from '@commander-js/extra-typings';
import type { ResponseResource } from '../../../shared/contract/response-resource.ts';
import type { CreateResponseBody } from '../../../shared/contract/responses.ts';
import { createResponse } from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { receivedError } from '../../../shared/faults/received-error.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../failures/cli-error.ts';
import { isStdin } from '../../io.ts';
import { example, numberFrom, wholeNumber } from '../../options.ts';
import { wrapToWidth } from '../../output/width.ts';
import {
  type AnswerFlags,
  type Following,
  failureOf,
  followAnswer,
  plainOption,
  printResponse,
} from './answer.ts';
import { showCancelledCost, summarizeResponse } from './call-cost.ts';
import { withPayment } from './pay-call.ts';
import { keepPictures, picturesOption, preparePictures } from './pictures.ts';
import { showProgress } from './progress.ts';
import { type RequestFlags, requestBody } from './request-body.ts';

// Not `<path...>`, which would read the prompt as another file.
const collect = (path: string, paths: string[] = []): string[] => [...paths, path];

export const respondCommand = (context: Context) =>
  new Command('respond')
    .addArgument(new Argument('[prompt...]', 'the question; piped input is appended'))
    .option('-m, --model <model>', "the model to ask (default: GATEWAY_MODEL, then the daemon's default)")
    .option(
      '--stream',
      'print the answer as it is generated (default on a terminal); with --json one event per line',
    )
    .option('--no-stream', 'wait for the whole answer')
    .option(...plainOption)
    .option('-i, --instructions <text>', 'system instructions')
    .option('--json-schema <file>', 'a JSON schema for the answer')
    .option(
      '-f, --file <path>',
      'an image, PDF or text file to include, or - for piped input; can be repeated',
      collect,
    )
    .option(...picturesOption)
    .option('--tools <file>', 'a JSON list of functions that the model may call')
    .option(
      '--max-output-tokens <count>',
      'the maximum length of the answer, including reasoning',
      wholeNumber({ min: 1 }),
    )
    .option('--temperature <number>', 'how varied the answer is, from 0 to 2', numberFrom({ min: 0, max: 2 }))
    .option('--reasoning-effort <effort>', 'how much a reasoning model thinks, such as low or high')
    .addOption(
      new Option(
        '--provider-key <whose>',
        "whose provider key to use: your workspace's (mine) or the host's (ours)",
      ).choices(['mine', 'ours'] as const),
    )
    .option('--pay', 'pay from your wallet on this machine if the host asks for it')
    .option(
      '--max-sats <number>',
      'with --pay: pay without asking, up to this amount',
      wholeNumber({ min: 1 }),
    )
    .addOption(
      new Option('--cache <mode>', 'how to use the response cache').choices([
        'off',
        'read-only',
        'read-write',
      ] as const),
    )
    .option('--store', 'store the response (default)')
    .option('--no-store', 'do not store the response')
    .option('--background', 'run in the background: print the id, or with --stream the events')
    .option(
      '--idempotency-key <key>',
      'make the call only once, even if it is repeated with this key; not streamed',
    )
    .option('--previous <response>', 'the response to continue')
    .option('--thread <thread>', 'the thread to continue, by id or title; `new` creates one')
    .option('-n, --no-stdin', 'do not read standard input')
    .addHelpText(
      'after',
      example('git diff | gateway respond "Write a commit message." --model sim/assistant'),
    )
    .action((words, options) =>
      respondAndShow(context, { prompt: isStdin(words) ? '' : words.join(' '), ...options }),
    );

interface RespondFlags extends RequestFlags, AnswerFlags {
  /** By default, streams if a user is watching. */
  stream?: boolean | undefined;
  idempotencyKey?: string | undefined;
  /** The folder for generated images. */
  pictures?: string | undefined;
}

/** Asks a model and prints the answer. Ctrl-C also cancels the call upstream and prints its cost. */
async function respondAndShow(context: Context, flags: RespondFlags): Promise<void> {
  checkFlags(flags);
  const body = await requestBody(context, flags);
  preparePictures(flags.pictures);
  if (flags.background && flags.stream !== true) return startInBackground(context, flags, body);
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
  const streams = flags.stream ?? (context.out.isInteractive() && flags.idempotencyKey === undefined);
  const sent = { ...body, stream: streams };
  try {
    await withPayment(context, flags, async (headers) => {
      if (streams) {
        const events = context
          .client()
          .stream(createResponse, { headers: {}, body: sent }, { ...options, headers });
        await followAnswer(context, {
          events,
          following,
          progress,
          isLive: isLive(context, flags),
          markdown: flags.markdown,
        });
      } else {
        const input = { headers: idempotencyHeaders(flags), body: sent };
        following.response = await context.client().call(createResponse, input, { ...options, headers });
        progress.stop();
        await showResponse(context, following.response, flags);
      }
    });
  } catch (error) {
    if (!signal.aborted) throw failureOf(following, error);
    progress.stop();
    context.exit = exitCodes.interrupted;
    if (flags.background)
      return context.out.warn(
        `It continues in the background: gateway responses watch ${following.responseId ?? 'ID'}`,
      );
    return showCancelledCost(context, following.requestId);
  } finally {
    progress.stop();
  }
  if (following.response) keepPictures(context, following.response, flags.pictures);
  showOutcome(context, following, context.now() - startedAt);
}

function checkFlags(flags: RespondFlags): void {
  const { stream, idempotencyKey, background, pictures, pay, maxSats } = flags;
  if (maxSats !== undefined && !pay)
    throw new CliError('--max-sats requires --pay.', { exit: exitCodes.usage });
  if (stream && idempotencyKey !== undefined)
    throw new CliError('--stream and --idempotency-key cannot be combined.', {
      exit: exitCodes.usage,
    });
  if (background && !stream && pictures !== undefined)
    throw usageError(
      '--background and --pictures cannot be combined.',
      'Save the images later: gateway responses watch ID --pictures FOLDER',
    );
}

/** Whether text is printed as it arrives. */
export function isLive({ io, out }: Context, { stream }: Pick<RespondFlags, 'stream'>): boolean {
  return stream ?? (io.stdout.isTty && !out.wantsJson());
}

/** Prints a response that arrived in one piece. */
export async function showResponse(
  context: Context,
  response: ResponseResource,
  flags: AnswerFlags,
): Promise<void> {
  if (context.out.wantsJson()) await context.out.document(response);
  else await printResponse(context, response, flags);
}

/** Prints the cost after an answer, and throws if it failed. */
export function showOutcome(context: Context, following: Following, tookMs: number): void {
  const { response, requestId, replayOf, error } = following;
  if (response) {
    const bill = summarizeResponse(response, { requestId: replayOf ?? requestId, tookMs });
    const { stderr, columns } = context.io;
    for (const line of stderr.isTty ? wrapToWidth(bill, columns()) : [bill]) context.out.note(line);
  }
  if (replayOf !== undefined) context.out.note('This is a replayed answer and is not charged again.');
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
 * Starts a background response and prints its id. It is started as a stream that is closed immediately, so that its
 * events are stored and can be followed; but not with an idempotency key, which does not work with streams.
 */
async function startInBackground(
  context: Context,
  flags: RespondFlags,
  body: CreateResponseBody,
): Promise<void> {
  const isStreamed = flags.stream !== false && flags.idempotencyKey === undefined;
  const headers = idempotencyHeaders(flags);
  const sent = { ...body, stream: isStreamed };
  const queued = await withPayment(context, flags, (payment) =>
    isStreamed
      ? firstResponse(context, sent, payment)
      : context.client().call(createResponse, { headers, body: sent }, { headers: payment }),
  );
  if (context.out.wantsJson()) await context.out.document(queued);
  else context.out.text(`${queued.id}\n`);
  context.out.note(`Running in the background. To follow it: gateway responses watch ${queued.id}`);
}

/** The idempotency header, if the flag is given. */
export function idempotencyHeaders({ idempotencyKey }: Pick<RespondFlags, 'idempotencyKey'>) {
  return idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
}

async function firstResponse(
  context: Context,
  body: CreateResponseBody,
  headers: Record<string, string>,
): Promise<ResponseResource> {
  const events = context.client().stream(createResponse, { headers: {}, body }, { headers });
  for await (const { data } of events) {
    const { response } = JSON.parse(data) as { response?: ResponseResource };
    if (response) return response;
  }
  throw new TypeError('the stream did not start with a response');
}
