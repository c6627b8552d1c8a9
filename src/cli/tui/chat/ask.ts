import { createResponse } from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { ReceivedError, receivedError } from '../../../shared/faults/received-error.ts';
import {
  type AnswerEvent,
  type AnswerSoFar,
  callsOfResponse,
  isText,
  noteEvent,
} from '../../commands/respond/answer.ts';
import { costText, summarizeResponse, tokensText, waitForUsage } from '../../commands/respond/call-cost.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import type { Conversation, Turn } from './conversation.ts';

interface AskOptions {
  conversation: Conversation;
  question: Omit<Turn, 'role'>;
  signal: AbortSignal;
  onRoute(model: string, provider: string): void;
  onText(piece: string): void;
}

export interface Answered {
  text: string;
  /** The model that answered; undefined if the answer has no end. */
  model?: string;
  /** Model, tokens, cost and time on one line. */
  bill: string;
  /** The id of the response; null if it was not stored, undefined if the answer has no end. */
  stored?: string | null;
  warning?: string | undefined;
  /** Why the answer ended early. */
  failure?: unknown;
}

/**
 * Asks for one answer and streams its text. Throws if the request is rejected or fails before any text. An answer that is
 * aborted or fails later resolves with the text so far and its cost.
 */
export async function ask(context: Context, options: AskOptions): Promise<Answered> {
  const { conversation, signal } = options;
  const startedAt = context.now();
  const seen: Seen = { text: '', requestId: undefined, response: undefined, error: undefined };
  let failure: unknown;
  try {
    await read(context, options, seen);
  } catch (error) {
    failure = error;
  }
  if (conversation.stored !== undefined && isForgotten(failure)) {
    // Deleted or expired: the conversation is sent again from this program's memory.
    conversation.stored = undefined;
    return ask(context, options);
  }
  const { response } = seen;
  if (signal.aborted && !response) return partial('Cancelled.', context, conversation, seen);
  failure ??= failureOf(seen);
  if (failure && seen.text === '') throw failure;
  // The text so far was generated and may have been charged.
  if (failure) return { ...(await partial('Incomplete.', context, conversation, seen)), failure };
  if (!response) throw endedEarly();
  const { usage, service } = response;
  conversation.count({
    input: Number(usage?.input_tokens ?? 0),
    output: Number(usage?.output_tokens ?? 0),
    costUsd: service?.cost?.total_usd ?? null,
  });
  const why =
    response.status === 'incomplete' ? (response.incomplete_details?.reason ?? 'unknown reason') : '';
  return {
    text: seen.text + callsOfResponse(response),
    model: service?.model ?? response.model,
    stored: response.store ? response.id : null,
    bill: summarizeResponse(response, { requestId: undefined, tookMs: context.now() - startedAt }),
    warning: why === '' ? undefined : `The answer is incomplete: ${why}.`,
  };
}

function isForgotten(failure: unknown): boolean {
  return failure instanceof ReceivedError && failure.code === 'previous_response_not_found';
}

interface Seen extends AnswerSoFar {
  text: string;
}

async function read(context: Context, options: AskOptions, seen: Seen): Promise<void> {
  const { conversation, question, signal, onRoute, onText } = options;
  const onOpen = (headers: Record<string, string>) => {
    seen.requestId = headers['x-request-id'];
  };
  const body = { ...conversation.body(question), stream: true };
  const events = context.client().stream(createResponse, { headers: {}, body }, { signal, onOpen });
  for await (const { data } of events) {
    const event = JSON.parse(data) as AnswerEvent;
    if (event.type === 'service:route' && event.model) onRoute(event.model, event.provider ?? '');
    noteEvent(event, seen);
    if (!isText(event)) continue;
    seen.text += event.delta;
    onText(event.delta);
  }
}

/** Why the answer is not complete; undefined if it is. */
function failureOf({ response, error, requestId }: Seen): Error | undefined {
  const failure = error ?? (response?.status === 'failed' ? response.error : undefined);
  if (failure) return receivedError(500, requestHeaders(requestId), JSON.stringify({ error: failure }));
  return response ? undefined : endedEarly();
}

function endedEarly(): Error {
  return new CliError('The answer ended early.', {
    exit: exitCodes.tryLater,
    next: 'Press Enter to ask again.',
  });
}

/** An answer without its end, with the cost so far. */
async function partial(
  status: string,
  context: Context,
  conversation: Conversation,
  { requestId, text }: Seen,
): Promise<Answered> {
  const usage =
    requestId === undefined ? undefined : await waitForUsage(context, requestId).catch(() => undefined);
  if (!usage) {
    const command = ['gateway usage', ...(requestId === undefined ? [] : [requestId])].join(' ');
    return { text, bill: `${status} For its cost, run: ${command}` };
  }
  const { tokens, charged_usd: charged, cost, model, request_id: id } = usage;
  conversation.count({ input: tokens.input, output: tokens.output, costUsd: cost === null ? null : charged });
  const parts = [model, tokensText(tokens.input, tokens.output), costText(usage, charged), id];
  return { text, bill: `${status} ${parts.join(' · ')}` };
}

function requestHeaders(requestId: string | undefined): Record<string, string> {
  return requestId === undefined ? {} : { 'x-request-id': requestId };
}
