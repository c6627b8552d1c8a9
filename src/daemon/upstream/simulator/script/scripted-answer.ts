import type { Tokens } from '../../../../shared/money/money.ts';
import { UpstreamFailure, type UpstreamFailureKind } from '../../../features/upstreams/upstream.ts';
import type { Content, Pace, PlannedCall, PlannedFailure, SimulatedAnswer } from '../answer.ts';
import type { Conversation } from '../conversation.ts';
import { planCall } from '../tool-choice.ts';
import { fillIn, type Matched, type Placeholders } from './match-rules.ts';
import type { ErrorFile, ReplyFile, ToolCallFile, UsageFile } from './script-file.ts';

export interface ScriptedOptions {
  conversation: Conversation;
  /** The model's own pace. */
  pace: Pace;
  /** The model's answer without a script. */
  unscripted: () => SimulatedAnswer;
}

/** The answer of a rule. A rule without content changes how the model's own answer is delivered. */
export function scriptedAnswer({ reply, placeholders }: Matched, options: ScriptedOptions): SimulatedAnswer {
  const { conversation, pace, unscripted } = options;
  const content = contentOf(reply, placeholders, conversation);
  const isErrorOnly = reply.error !== undefined && reply.break_after === undefined;
  const base: SimulatedAnswer =
    content || isErrorOnly ? { content: content ?? emptyContent, pace } : unscripted();
  return {
    content: {
      ...base.content,
      ...(reply.reasoning !== undefined && { reasoning: fillIn([reply.reasoning].flat(), placeholders) }),
      finish: reply.finish ?? base.content.finish,
    },
    pace: {
      latencyMs: reply.latency_ms ?? base.pace.latencyMs,
      tokensPerSecond: reply.tokens_per_second ?? base.pace.tokensPerSecond,
    },
    tokens: reply.usage && tokensOf(reply.usage),
    failure: failureOf(reply, placeholders) ?? base.failure,
  };
}

const emptyContent: Content = { reasoning: [], calls: [], finish: 'stop' };

function contentOf(
  reply: ReplyFile,
  placeholders: Placeholders,
  conversation: Conversation,
): Content | undefined {
  const { reply: text, refusal, tool_calls: calls } = reply;
  const hasJson = 'json' in reply;
  if (text === undefined && !hasJson && refusal === undefined && calls === undefined) return undefined;
  return {
    reasoning: [],
    text: hasJson ? JSON.stringify(fillIn(reply.json, placeholders)) : text && fillIn(text, placeholders),
    refusal: refusal && fillIn(refusal, placeholders),
    calls: (calls ?? []).map((call) => scriptedCall(call, placeholders, conversation)),
    finish: 'stop',
  };
}

/** Text arguments are sent unchanged; without arguments, they are generated from the tool's schema. */
function scriptedCall(
  call: ToolCallFile,
  placeholders: Placeholders,
  conversation: Conversation,
): PlannedCall {
  const { name, arguments: args } = fillIn(call, placeholders);
  if (args !== undefined) return { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) };
  const tool = conversation.tools.find((offered) => offered.name === name);
  return tool ? planCall(tool, conversation) : { name, arguments: '{}' };
}

function tokensOf(usage: UsageFile): Partial<Tokens> {
  const tokens: Partial<Tokens> = {
    input: usage.input_tokens,
    cachedInput: usage.cached_tokens,
    cacheWrite: usage.cache_write_tokens,
    output: usage.output_tokens,
    reasoning: usage.reasoning_tokens,
  };
  // An omitted count must not override the generated one.
  return Object.fromEntries(Object.entries(tokens).filter(([, count]) => count !== undefined));
}

function failureOf(
  { error, break_after: afterTokens }: ReplyFile,
  placeholders: Placeholders,
): PlannedFailure | undefined {
  if (error) return { error: scriptedFailure(error, placeholders), afterTokens };
  if (afterTokens === undefined) return undefined;
  return { error: new UpstreamFailure('broken', 'The script breaks the answer off here.'), afterTokens };
}

const statusByKind: Partial<Record<UpstreamFailureKind, number>> = {
  caller: 400,
  'unknown-model': 404,
  authentication: 401,
  forbidden: 403,
  billing: 402,
  'rate-limited': 429,
  server: 500,
  timeout: 504,
};

function scriptedFailure(file: ErrorFile, placeholders: Placeholders): UpstreamFailure {
  const kind = file.kind
    ? (file.kind.replaceAll('_', '-') as UpstreamFailureKind)
    : kindOfStatus(file.status ?? 500);
  const text = file.message ?? `The script fails this call with ${file.kind ?? file.status ?? 'an error'}.`;
  const message = fillIn(text, placeholders);
  return new UpstreamFailure(kind, message, {
    status: file.status ?? statusByKind[kind],
    retryAfterSeconds: file.retry_after,
    ...(kind === 'caller' && { publicMessage: message, code: 'invalid_request' }),
  });
}

function kindOfStatus(status: number): UpstreamFailureKind {
  if (status === 401) return 'authentication';
  if (status === 403) return 'forbidden';
  if (status === 402) return 'billing';
  if (status === 404) return 'unknown-model';
  if (status === 408 || status === 504) return 'timeout';
  if (status === 429) return 'rate-limited';
  return status < 500 ? 'caller' : 'server';
}
