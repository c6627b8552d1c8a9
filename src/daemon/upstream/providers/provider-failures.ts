import type { ContentPart, Inference } from '../../features/upstreams/neutral.ts';
import {
  UpstreamFailure,
  type UpstreamFailureDetails,
  type UpstreamFailureKind,
} from '../../features/upstreams/upstream.ts';
import type { FieldAtFault } from './field-at-fault.ts';
import { waitSaid } from './retry-after.ts';
import { callerErrorCode, sanitizeProviderMessage, unquotedStart } from './sanitize-provider-message.ts';

/** Classifies a status of 400 or more when the body says nothing more specific. */
export function kindOfStatus(status: number): UpstreamFailureKind {
  if (status === 400 || status === 413 || status === 422) return 'caller';
  if (status === 401) return 'authentication';
  if (status === 403) return 'forbidden';
  if (status === 402) return 'billing';
  if (status === 404) return 'unknown-model';
  if (status === 429) return 'rate-limited';
  return status === 408 ? 'timeout' : 'server';
}

const spent =
  /\b(used all available credits|(run )?out of credits?|credit balance is too low|monthly spending limit|credits are depleted)\b/i;
const closed =
  /\b(api[ _-]?key|key|account|organi[sz]ation|workspace|project|consumer)\b[^.]{0,40}\b(deactivated|suspended|disabled|restricted|terminated|closed|banned|revoked|expired)\b/i;
const noAccess =
  /\b(not (allowed|authorized|permitted)|(no|not have) access|access denied)\b[^.]{0,60}\bmodel\b|\bmodel\b[^.]{0,60}\b(not (allowed|authorized|permitted|available)|requires? )/i;

/**
 * What a refusal says about the key and the account there, whatever its status: that they are closed, out of credit, or may not use
 * the model. Undefined if it says none of it. Source: the sentences of providers, as people report them.
 */
export function accountFailure(status: number, message: string): UpstreamFailureKind | undefined {
  if (status !== 400 && status !== 401 && status !== 403 && status !== 429) return undefined;
  const start = unquotedStart(message);
  if (spent.test(start)) return 'billing';
  if (status === 429) return undefined;
  if (closed.test(start) && !/\bmodels?\b/i.test(start)) return 'authentication';
  return status !== 400 && noAccess.test(start) ? 'forbidden' : undefined;
}

interface Refusal {
  /** For the log: contains nothing of the request or of the provider's message. */
  message: string;
  /** Undefined in the middle of a stream. */
  status: number | undefined;
  /** The provider's message; shown to the caller, sanitized, unless the failure concerns the account there. */
  providerMessage: string | undefined;
  retryAfterSeconds: number | undefined;
  /** The provider's error code, an identifier; empty for none. */
  code: string;
  /** Whether there is a code, which may be a number. */
  hasCode: boolean;
  field: FieldAtFault;
}

/** The failure of a refused call, for providers whose messages may be shown. */
export function refusalFailure(
  kind: UpstreamFailureKind,
  { message, status, providerMessage, retryAfterSeconds, code, hasCode, field }: Refusal,
): UpstreamFailure {
  const sentStatus = status !== undefined && { status };
  if (kind === 'caller') {
    const text = providerMessage || 'The provider refused the request.';
    const publicMessage = sanitizeProviderMessage(text);
    return new UpstreamFailure(kind, message, {
      ...sentStatus,
      publicMessage,
      code: callerErrorCode(text),
      ...field,
      ...(code !== '' && { providerCode: code }),
    });
  }
  const explanation = (hasCode || code !== '') && explanationOf(kind, code, providerMessage);
  const details: UpstreamFailureDetails = { ...sentStatus, ...explanation };
  const isTransient = kind === 'rate-limited' || kind === 'server';
  const wait = retryAfterSeconds ?? (kind === 'rate-limited' ? waitSaid(providerMessage ?? '') : undefined);
  if (isTransient && wait !== undefined) details.retryAfterSeconds = wait;
  return new UpstreamFailure(kind, message, details);
}

/**
 * A provider's error code, empty if it is a number, and its sentence unless the failure concerns the account there. Not for
 * errors without any code, whose sentence may be anything, such as a dump of internals.
 */
export function explanationOf(
  kind: UpstreamFailureKind,
  code: string,
  message: string | undefined,
): Pick<UpstreamFailureDetails, 'providerCode' | 'publicMessage'> {
  const isPublic = kind === 'rate-limited' || kind === 'server';
  const publicMessage = isPublic && message ? sanitizeProviderMessage(message) : '';
  return { ...(code !== '' && { providerCode: code }), ...(publicMessage && { publicMessage }) };
}

/** A request that the provider's format cannot express; `part` is what it cannot express of the input. */
export function unsupported(message: string, param: string, part?: ContentPart): UpstreamFailure {
  return new UpstreamFailure('caller', 'the provider’s format cannot express the request', {
    publicMessage: message,
    code: 'unsupported_value',
    param,
    ...(part && { unsupported: part }),
  });
}

/** Refuses a call of the chat format that asks for images, for providers that answer with text only. */
export function refuseImageOutput({ wire, body }: Inference): void {
  if (wire === 'chat' && Array.isArray(body.modalities) && body.modalities.includes('image'))
    throw unsupported('This model does not answer with images.', 'modalities');
}

/** A tool call without a name, which no client could answer. */
export function unnamedCall(provider: string): UpstreamFailure {
  return new UpstreamFailure('broken', `${provider} called a tool without naming it`);
}

/**
 * The id of a stream's answer once an event names `id`; `known` is null if an earlier one named none. Fails for another answer in the stream
 * of one that has begun: a server between lost its connection and asked again. Both together would be an answer that nobody gave, with
 * half a call. Source: vercel/ai#18331, fersilva16/nix-config#665, vybestack/llxprt-code#3049.
 */
export function answerId(
  id: unknown,
  known: unknown,
  { hasBegun, provider }: { hasBegun: boolean; provider: string },
): unknown {
  if (hasBegun && known !== undefined && typeof id === 'string' && id !== known)
    throw new UpstreamFailure('broken', `${provider} began another answer within one`);
  return id ?? known ?? null;
}
