import type { ResponseResource } from '../../../shared/contract/responses.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { receivedError } from '../../../shared/received-error.ts';
import { createResponse } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { textOfResponse } from './answer-text.ts';
import { billOfResponse, tellCancelled } from './bill.ts';
import { type Following, followAnswer } from './follow-answer.ts';
import { showProgress } from './progress.ts';
import { type RequestFlags, requestBody } from './request-body.ts';

export interface RespondFlags extends RequestFlags {
  /** Left out, it is streamed where a person waits. */
  stream?: boolean | undefined;
}

/** Asks a model and shows the answer. Ctrl-C ends the call upstream too and tells what it cost. */
export async function respondAndShow(context: Context, flags: RespondFlags): Promise<void> {
  const body = await requestBody(context, flags);
  const following: Following = { requestId: undefined, response: undefined, error: undefined };
  const signal = context.interrupted();
  const startedAt = context.now();
  const progress = showProgress(context, body);
  const options = {
    signal,
    onOpen: (headers: Record<string, string>) => {
      following.requestId = headers['x-request-id'];
    },
  };
  try {
    if (flags.stream ?? context.out.isInteractive()) {
      const events = context
        .client()
        .stream(createResponse, { headers: {}, body: { ...body, stream: true } }, options);
      await followAnswer(context, { events, following, progress, isLive: isLive(context, flags) });
    } else {
      following.response = await context
        .client()
        .call(createResponse, { headers: {}, body: { ...body, stream: false } }, options);
      progress.stop();
      await showWhole(context, following.response);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    progress.stop();
    context.exit = exitCodes.interrupted;
    return tellCancelled(context, following.requestId);
  } finally {
    progress.stop();
  }
  end(context, following, context.now() - startedAt);
}

/** Whether text is written as it comes. */
function isLive({ io, out }: Context, { stream }: RespondFlags): boolean {
  return stream ?? (io.stdout.isTty && !out.wantsJson());
}

/** Shows a response that was received in one piece. */
export async function showWhole(context: Context, response: ResponseResource): Promise<void> {
  if (context.out.wantsJson()) await context.out.document(response);
  else context.out.text(textOfResponse(response));
}

function end(context: Context, { response, requestId, error }: Following, tookMs: number): void {
  if (response) context.out.note(billOfResponse(response, { requestId, tookMs }));
  if (response?.status === 'incomplete') {
    context.out.warn(
      `The answer is incomplete: ${response.incomplete_details?.reason ?? 'it was cut short'}.`,
    );
    context.exit = exitCodes.partlyDone;
  }
  const failure = error ?? (response?.status === 'failed' ? response.error : undefined);
  if (!failure) return;
  const headers: Record<string, string> = requestId === undefined ? {} : { 'x-request-id': requestId };
  throw receivedError(500, headers, JSON.stringify({ error: failure }));
}
