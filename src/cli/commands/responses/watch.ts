import { Command } from '@commander-js/extra-typings';
import type { ResponseResource } from '../../../shared/contract/response-resource.ts';
import { getResponse } from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';
import type { SseEvent } from '../../../shared/http/sse.ts';
import type { Context } from '../../context.ts';
import { isTransient } from '../../hosts/is-transient.ts';
import { example } from '../../options.ts';
import { type AnswerFlags, type Following, failureOf, followAnswer, plainOption } from '../respond/answer.ts';
import { keepPictures, picturesOption, preparePictures } from '../respond/pictures.ts';
import { showProgress } from '../respond/progress.ts';
import { isLive, showOutcome, showResponse } from '../respond/respond.ts';

const pollMs = 1000;

export const watchResponseCommand = (context: Context) =>
  new Command('watch')
    .argument('<response>', 'the id of a background response: resp_…')
    .option(
      '--stream',
      'print the answer as it is generated (default on a terminal); with --json one event per line',
    )
    .option(...plainOption)
    .option(...picturesOption)
    .addHelpText('after', example('gateway responses watch resp_01jd…'))
    .action((id, flags) => watchAndShow(context, { id, ...flags }));

interface WatchFlags extends AnswerFlags {
  id: string;
  stream?: boolean | undefined;
  pictures?: string | undefined;
}

/** Follows a background response to its end, also across restarts of the daemon. Ctrl-C does not cancel it. */
async function watchAndShow(context: Context, { id, stream, pictures, markdown }: WatchFlags): Promise<void> {
  preparePictures(pictures);
  const signal = context.interrupted();
  const startedAt = context.now();
  const following: Following = { requestId: undefined, response: undefined, error: undefined };
  const progress = showProgress(context, { model: id });
  try {
    const events = resumedEvents(context, id, signal);
    await followAnswer(context, {
      events,
      following,
      progress,
      isLive: isLive(context, { stream }),
      markdown,
    });
  } catch (error) {
    if (!signal.aborted && isUnfollowable(error)) {
      following.response = await ended(context, id, signal);
      progress.stop();
      if (following.response) await showResponse(context, following.response, { markdown });
    } else if (!signal.aborted) throw failureOf(following, error);
  } finally {
    progress.stop();
  }
  if (!following.response) {
    context.exit = exitCodes.interrupted;
    return context.out.warn(`It continues in the background. To cancel it: gateway responses cancel ${id}`);
  }
  keepPictures(context, following.response, pictures);
  showOutcome(context, following, context.now() - startedAt);
}

/** Whether the response has no stored events because it was not started as a stream. */
function isUnfollowable(error: unknown): boolean {
  return error instanceof ReceivedError && error.code === 'invalid_request' && error.param === 'stream';
}

/** Polls until it has finished; undefined after Ctrl-C. */
async function ended(
  context: Context,
  id: string,
  signal: AbortSignal,
): Promise<ResponseResource | undefined> {
  while (!signal.aborted) {
    const response = await context.client().call(getResponse, { params: { id }, query: {} }, { signal });
    if (response.status !== 'queued' && response.status !== 'in_progress') return response;
    await context.sleep(pollMs, signal);
  }
  return undefined;
}

const firstWaitMs = 250;
const longestWaitMs = 5000;
const isLast = /^response\.(completed|incomplete|failed)$/;

interface EventHead {
  type: string;
  sequence_number: number;
}

/** Yields the events of a background response until its last one, reconnecting when the connection is lost. */
async function* resumedEvents(context: Context, id: string, signal: AbortSignal): AsyncGenerator<SseEvent> {
  let after: number | undefined;
  let waitMs = firstWaitMs;
  let wasOpen = false;
  let isLost = false;
  const onOpen = () => {
    if (isLost) context.out.note('Reconnected.');
    wasOpen = true;
    isLost = false;
    waitMs = firstWaitMs;
  };
  while (!signal.aborted) {
    try {
      const query = { stream: true, starting_after: after };
      const events = context.client().stream(getResponse, { params: { id }, query }, { signal, onOpen });
      for await (const event of events) {
        const { type, sequence_number: sequence } = JSON.parse(event.data) as EventHead;
        after = sequence;
        yield event;
        if (isLast.test(type)) return;
      }
    } catch (error) {
      if (signal.aborted || !wasOpen || !isTransient(error)) throw error;
    }
    if (!isLost) context.out.warn('Connection lost; reconnecting.');
    isLost = true;
    await context.sleep(waitMs, signal);
    waitMs = Math.min(waitMs * 2, longestWaitMs);
    context.forgetHost();
  }
}
