import { ownValue } from '../../shared/json/json-object.ts';
import { formatUsd } from '../../shared/money/money.ts';
import type { UsageRecord } from '../features/metering/index.ts';
import { type Attempt, askedModelOf } from '../features/routing/index.ts';

/*
 * Attributes of spans. Names follow OpenTelemetry's semantic conventions for generative AI and HTTP; those that start
 * with `gateway.` are our own. None contains prompts or answers.
 */

export type Attributes = Record<string, string | number | boolean | string[]>;

/** The conventions have different names for these. */
const providerNames: Readonly<Record<string, string>> = { google: 'gcp.gemini' };

/** `settlementMs`: from the end of the answer until its cost was on disk. */
export function serverAttributes(usage: UsageRecord, settlementMs: number): Attributes {
  return {
    ...requestAttributes(usage.endpoint, usage.requestId),
    'gateway.status': usage.status,
    'gateway.workspace.id': usage.workspaceId,
    'gateway.attempts': usage.attempts.length,
    'gateway.own_key': usage.ownKey,
    'gateway.settlement_ms': settlementMs,
    'gateway.charged_usd': formatUsd(usage.charged),
    ...(usage.cost && { 'gateway.cost_usd': formatUsd(usage.cost.total) }),
    ...(usage.keyId !== null && { 'gateway.key.id': usage.keyId }),
    ...(usage.errorCode !== null && { 'error.type': usage.errorCode }),
    ...labelAttributes(usage),
  };
}

/** Who called, and for what, on each span of a call: collectors group by attributes of either. */
function labelAttributes({ labels: { user, conversation, tags } }: Pick<UsageRecord, 'labels'>): Attributes {
  return {
    ...(user !== null && { 'user.id': user }),
    ...(conversation !== null && { 'gen_ai.conversation.id': conversation, 'session.id': conversation }),
    ...Object.fromEntries(Object.entries(tags).map(([name, value]) => [`gateway.tag.${name}`, value])),
  };
}

export function requestAttributes(endpoint: string, requestId: string): Attributes {
  return {
    'http.request.method': 'POST',
    'http.route': endpoint,
    'url.path': endpoint,
    'url.scheme': 'http',
    'gateway.request.id': requestId,
  };
}

/** Source: the well-known values of `gen_ai.operation.name`. */
export function operationOf({ endpoint }: Pick<UsageRecord, 'endpoint'>): 'chat' | 'embeddings' {
  return endpoint === '/v1/embeddings' ? 'embeddings' : 'chat';
}

export function attemptAttributes(usage: UsageRecord, attempt: Attempt) {
  const { provider, status, errorCode } = attempt;
  const attributes: Attributes = {
    'gen_ai.operation.name': operationOf(usage),
    'gen_ai.provider.name': ownValue(providerNames, provider) ?? provider,
    'gen_ai.request.model': askedModelOf(attempt),
    'gen_ai.request.stream': usage.streamed,
    ...labelAttributes(usage),
  };
  if (errorCode !== null) attributes['error.type'] = errorCode;
  if (status > 0) attributes['http.response.status_code'] = status;
  return attributes;
}

/** Additional attributes of the attempt that answered. */
export function answerAttributes(usage: UsageRecord): Attributes {
  const { tokens, trace, cost } = usage;
  const answered = usage.attempts.at(-1);
  // Of an answer from the cache, nobody else was asked.
  const asked = answered ? askedModelOf(answered) : usage.model;
  const ttftMs = usage.streamed ? usage.ttftMs : null;
  return {
    'gen_ai.response.model': trace?.servedModel ?? asked,
    ...(ttftMs !== null && {
      'gen_ai.response.time_to_first_chunk':
        Math.max(0, Math.round(ttftMs - (trace?.startedMs.at(-1) ?? 0))) / 1000,
    }),
    // Not in the conventions, but what collectors read, which otherwise apply prices of their own.
    ...(cost && { 'gen_ai.usage.cost': Number(formatUsd(cost.total)) }),
    'gateway.model': usage.model,
    'gen_ai.usage.input_tokens': tokens.input,
    'gen_ai.usage.output_tokens': tokens.output,
    'gen_ai.usage.cache_read.input_tokens': tokens.cachedInput,
    'gen_ai.usage.cache_creation.input_tokens': tokens.cacheWrite,
    'gen_ai.usage.reasoning.output_tokens': tokens.reasoning,
    ...(usage.responseId !== null && { 'gen_ai.response.id': usage.responseId }),
    ...(trace?.finishReason && { 'gen_ai.response.finish_reasons': [trace.finishReason] }),
    ...(usage.errorCode !== null && { 'error.type': usage.errorCode }),
  };
}
