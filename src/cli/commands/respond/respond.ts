import type { ResponseResource } from '../../../shared/contract/responses.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { receivedError } from '../../../shared/received-error.ts';
import { createResponse } from '../../addresses.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { textOfResponse } from './answer-text.ts';
import { beginInBackground, onceHeaders } from './background.ts';
import { billOfResponse, tellCancelled } from './bill.ts';
import { type Following, failureOf, followAnswer } from './follow-answer.ts';
import { keepPictures, preparePictures } from './pictures.ts';
import { showProgress } from './progress.ts';
import { type RequestFlags, requestBody } from './request-body.ts';

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
