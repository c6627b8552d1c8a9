import { Command } from '@commander-js/extra-typings';
import type { ResponseResource } from '../../../shared/contract/responses.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { ReceivedError } from '../../../shared/received-error.ts';
import type { SseEvent } from '../../../shared/sse.ts';
import { getResponse } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { mayPass } from '../../failures/is-transient.ts';
import { example } from '../../manifest/options.ts';
import { type Following, failureOf, followAnswer } from '../respond/answer.ts';
import { keepPictures, picturesOption, preparePictures } from '../respond/pictures.ts';
import { showProgress } from '../respond/progress.ts';
import { isLive, showWhole, tellEnd } from '../respond/respond.ts';

const pollMs = 1000;

export const watchResponseCommand = (context: Context) =>
  new Command('watch')
    .argument('<id>', 'the id of a background response, resp_…')
    .option('--stream', 'write the answer as it comes, as on a terminal; with --json an event a line')
    .option(...picturesOption)
    .addHelpText('after', example('gateway responses watch resp_01jd…'))
    .action((id, flags) => watchAndShow(context, { id, ...flags }));

interface WatchFlags {
  id: string;
  stream?: boolean | undefined;
  pictures?: string | undefined;
}

/** Follows a background response to its end, over lost connections and restarts of the daemon. Ctrl-C leaves it alone. */
async function watchAndShow(context: Context, { id, stream, pictures }: WatchFlags): Promise<void> {
  preparePictures(pictures);
  const signal = context.interrupted();
  const startedAt = context.now();
  const following: Following = { requestId: undefined, response: undefined, error: undefined };
  const progress = showProgress(context, { model: id });
  try {
    const events = resumedEvents(context, id, signal);
    await followAnswer(context, { events, following, progress, isLive: isLive(context, { stream }) });
  } catch (error) {
    if (!signal.aborted && isUnfollowable(error)) {
      following.response = await ended(context, id, signal);
      progress.stop();
      if (following.response) await showWhole(context, following.response);
    } else if (!signal.aborted) throw failureOf(following, error);
  } finally {
    progress.stop();
  }
  if (!following.response) {
    context.exit = exitCodes.interrupted;
    return context.out.warn(`It is made to its end: gateway responses cancel ${id} ends it.`);
  }
  keepPictures(context, following.response, pictures);
  tellEnd(context, following, context.now() - startedAt);
}

/** Whether its events were not kept, as it was not begun as a stream. */
function isUnfollowable(error: unknown): boolean {
  return error instanceof ReceivedError && error.code === 'invalid_request' && error.param === 'stream';
}

/** Asks for it until it has ended; undefined after Ctrl-C. */
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

/** The events of a background response to its last one. A connection that was lost is told, tried again, and resumed. */
export async function* resumedEvents(
  context: Context,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<SseEvent> {
  let after: number | undefined;
  let waitMs = firstWaitMs;
  let wasOpen = false;
  let isLost = false;
  const onOpen = () => {
    if (isLost) context.out.note('Connected again.');
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
      if (signal.aborted || !wasOpen || !mayPass(error)) throw error;
    }
    if (!isLost) context.out.warn('The connection was lost; trying again until it is back.');
    isLost = true;
    await context.sleep(waitMs, signal);
    waitMs = Math.min(waitMs * 2, longestWaitMs);
    context.forgetHost();
  }
}
