import type { Address, CallOptions } from '../../../shared/client.ts';
import type { CostPreview } from '../../../shared/contract/cost-preview.ts';
import type { TraceView } from '../../../shared/contract/traces.ts';
import {
  createChatCompletion,
  createEmbedding,
  createMessage,
  createResponse,
  getTrace,
  previewChatCompletion,
  previewEmbedding,
  previewMessage,
  previewResponse,
} from '../../../shared/endpoints.ts';
import { messageOf } from '../../../shared/faults/message-of.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';
import { AnswerAssembler } from '../../../shared/formats/assemble-answer.ts';
import type { ReplayedEndpoint } from '../../../shared/replay/prepare-replay.ts';
import { answerPassages } from '../../content/call-content.ts';
import type { Context } from '../../context.ts';

type Json = Record<string, unknown>;

/** A call that repeats another one. */
export interface ReplayCall {
  endpoint: ReplayedEndpoint;
  headers: Record<string, string>;
  body: Json;
  /** As it was asked for. */
  model: string;
}

/** A call that was made, or failed. */
export interface ReplayOutcome {
  model: string;
  request_id: string | null;
  status: TraceView['status'];
  /** A sentence. */
  error: string | null;
  provider: string | null;
  cost_usd: string | null;
  first_token_ms: number | null;
  total_ms: number | null;
  input_tokens: number | null;
  output_tokens: number | null;
  /** Its text; images, calls of tools and the like are a line each. */
  answer: string;
}

/** All are called the same way; the body was checked when it was captured, and is again. */
type AnyCall = Address<typeof import('../../../shared/contract/responses.ts').createResponse>;

const calls: Record<ReplayedEndpoint, { call: AnyCall; preview: AnyCall }> = {
  '/v1/responses': pair(createResponse, previewResponse),
  '/v1/chat/completions': pair(createChatCompletion, previewChatCompletion),
  '/v1/messages': pair(createMessage, previewMessage),
  '/v1/embeddings': pair(createEmbedding, previewEmbedding),
};

function pair(call: unknown, preview: unknown): { call: AnyCall; preview: AnyCall } {
  return { call: call as AnyCall, preview: preview as AnyCall };
}

/** What a call would cost at most. */
export async function previewCost(context: Context, { endpoint, body }: ReplayCall): Promise<CostPreview> {
  const preview = await context.client().call(calls[endpoint].preview, { headers: {}, body: body as never });
  return preview as unknown as CostPreview;
}

/** Makes a call, and reads its trace. A call that fails has an outcome, too; only Ctrl-C throws. */
export async function makeCall(
  context: Context,
  replay: ReplayCall,
  signal: AbortSignal,
): Promise<ReplayOutcome> {
  let requestId: string | null = null;
  let answer: unknown;
  let error: string | null = null;
  const startedAt = context.now();
  const options: CallOptions = {
    signal,
    headers: replay.headers,
    onOpen: (headers) => {
      requestId = headers['x-request-id'] ?? null;
    },
  };
  try {
    answer = await answerOf(context, replay, options);
    error = errorIn(answer);
  } catch (failure) {
    if (signal.aborted) throw failure;
    if (failure instanceof ReceivedError) requestId = failure.requestId ?? requestId;
    error = messageOf(failure);
  }
  const trace = requestId === null ? undefined : await settledTrace(context, requestId);
  return {
    model: replay.model,
    request_id: requestId,
    status: trace?.status ?? (error === null ? 'completed' : 'failed'),
    error,
    provider: trace?.provider ?? null,
    cost_usd: trace?.cost?.total_usd ?? null,
    first_token_ms: trace?.timings.first_token_ms ?? null,
    total_ms: trace?.timings.total_ms ?? context.now() - startedAt,
    input_tokens: trace?.tokens.input ?? null,
    output_tokens: trace?.tokens.output ?? null,
    answer: answer === undefined ? '' : answerText(answer),
  };
}

/** The whole answer, also of a stream. */
async function answerOf(
  context: Context,
  { endpoint, body }: ReplayCall,
  options: CallOptions,
): Promise<unknown> {
  const { call } = calls[endpoint];
  const input = { headers: {}, body: body as never };
  if (body.stream !== true) return await context.client().call(call, input, options);
  const assembler = new AnswerAssembler();
  for await (const { data } of context.client().stream(call, input, options))
    assembler.push(`data: ${data}\n`);
  return assembler.answer();
}

function errorIn(answer: unknown): string | null {
  const { error } = (answer ?? {}) as { error?: { message?: unknown } | null };
  return error ? String(error.message ?? 'The answer broke off.') : null;
}

function answerText(answer: unknown): string {
  const { data } = answer as { data?: unknown };
  if (Array.isArray(data)) return `[${data.length} ${data.length === 1 ? 'vector' : 'vectors'}]`;
  return answerPassages(answer)
    .filter(({ role }) => role !== 'error')
    .map(({ text }) => text)
    .join('\n')
    .trim();
}

const settleWaitMs = 3_000;
const pollMs = 50;

/** The trace of a call that just ended; undefined if it is not there in time. */
async function settledTrace(context: Context, requestId: string): Promise<TraceView | undefined> {
  const until = context.now() + settleWaitMs;
  do {
    try {
      return await context.client().call(getTrace, { params: { request_id: requestId } });
    } catch (error) {
      if (!(error instanceof ReceivedError) || error.code !== 'not_found') return undefined;
    }
    await context.sleep(pollMs);
  } while (context.now() < until);
  return undefined;
}
