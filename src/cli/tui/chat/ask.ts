import { receivedError } from '../../../shared/received-error.ts';
import { createResponse } from '../../addresses.ts';
import {
  type AnswerEvent,
  type AnswerSoFar,
  isText,
  noteEvent,
} from '../../commands/respond/answer-event.ts';
import { callsOfResponse } from '../../commands/respond/answer-text.ts';
import { billOf, billOfResponse, tokensText } from '../../commands/respond/bill.ts';
import type { Context } from '../../context.ts';
import { dollars } from '../../output/amount.ts';
import type { Conversation } from './conversation.ts';

interface AskOptions {
  conversation: Conversation;
  text: string;
  signal: AbortSignal;
  onRoute(model: string, provider: string): void;
  onText(piece: string): void;
}

export interface Answered {
  text: string;
  /** What it took, in a line. */
  bill: string;
  /** What is wrong with the answer, if anything. */
  warning: string | undefined;
}

/**
 * Asks for one answer and hands its text on as it comes. Throws where the service refuses or the answer fails. An answer
 * that the signal ends resolves with what was said until then, and what that cost.
 */
export async function ask(context: Context, options: AskOptions): Promise<Answered> {
  const { conversation, signal } = options;
  const startedAt = context.now();
  const seen: Seen = { text: '', requestId: undefined, response: undefined, error: undefined };
  try {
    await read(context, options, seen);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (signal.aborted && !seen.response) return cancelled(context, conversation, seen);
  const { response, requestId } = seen;
  const failure = seen.error ?? (response?.status === 'failed' ? response.error : undefined);
  if (failure) throw receivedError(500, requestHeaders(requestId), JSON.stringify({ error: failure }));
  if (!response) throw new Error('The answer broke off before its end.');
  const { usage, service } = response;
  conversation.count({
    input: Number(usage?.input_tokens ?? 0),
    output: Number(usage?.output_tokens ?? 0),
    costUsd: service?.cost?.total_usd ?? null,
  });
  const why =
    response.status === 'incomplete' ? (response.incomplete_details?.reason ?? 'it was cut short') : '';
  return {
    text: seen.text + callsOfResponse(response),
    bill: billOfResponse(response, { requestId, tookMs: context.now() - startedAt }),
    warning: why === '' ? undefined : `The answer is incomplete: ${why}.`,
  };
}

interface Seen extends AnswerSoFar {
  text: string;
}

async function read(context: Context, options: AskOptions, seen: Seen): Promise<void> {
  const { conversation, text, signal, onRoute, onText } = options;
  const onOpen = (headers: Record<string, string>) => {
    seen.requestId = headers['x-request-id'];
  };
  const body = { ...conversation.body(text), stream: true };
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

async function cancelled(context: Context, conversation: Conversation, seen: Seen): Promise<Answered> {
  const usage = seen.requestId === undefined ? undefined : await billOf(context, seen.requestId);
  if (!usage) {
    return {
      text: seen.text,
      bill: 'Cancelled. What it cost, if anything, is in: gateway usage',
      warning: undefined,
    };
  }
  const { tokens, charged_usd: charged, cost, model, request_id: id } = usage;
  conversation.count({ input: tokens.input, output: tokens.output, costUsd: cost === null ? null : charged });
  const parts = [model, tokensText(tokens.input, tokens.output), dollars(charged), id];
  return { text: seen.text, bill: `Cancelled. ${parts.join(' · ')}`, warning: undefined };
}

function requestHeaders(requestId: string | undefined): Record<string, string> {
  return requestId === undefined ? {} : { 'x-request-id': requestId };
}
