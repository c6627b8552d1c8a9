import { ApiError, asApiError } from '../../../../shared/errors.ts';
import type { RelayReply } from '../../../handler.ts';
import type { IdempotencySlot } from '../../idempotency/index.ts';
import { attemptView } from '../../routing/index.ts';
import { UpstreamFailure } from '../../upstreams/upstream.ts';
import type { Json } from '../invalid-request.ts';
import { cancellationError, settleReasonOf } from './cancellation.ts';
import type { SettleReason } from './meter.ts';
import type { Output } from './output-items.ts';
import { errorType, type Settled, type StartedFailure, type StreamRenderer } from './renderer.ts';
import type { CallDeps, StartedCall } from './start-call.ts';

type RelayDeps = Pick<CallDeps, 'log'>;

/** The headers of a model answer. A stream has no cost yet. */
export function answerHeaders({ route, meter }: StartedCall, settled?: Settled): Record<string, string> {
  const headers: Record<string, string> = {
    'x-service-model': headerText(route.offer.model),
    'x-service-upstream': route.provider,
  };
  if (route.kind === 'cache') headers['x-service-cache'] = 'hit';
  else if (route.cacheMiss) headers['x-service-cache'] = 'miss';
  if (meter.dropped.length > 0)
    headers['x-service-dropped'] = headerText(meter.dropped.map(({ param }) => param).join(', '));
  const cost = settled?.service.cost;
  if (cost) headers['x-service-cost-usd'] = cost.total_usd;
  return headers;
}

/** Headers hold printable ASCII only; other characters of a model's name are percent-encoded. */
export function headerText(name: string): string {
  return name.toWellFormed().replace(/[^\x20-\x7e]/gu, encodeURIComponent);
}

/** How an answer ended before it was complete; without a failure it was canceled. */
export interface CutShort {
  failure: StartedFailure | undefined;
  settled: Settled | undefined;
}

interface RelayOptions {
  renderer: StreamRenderer;
  /** Stores the answer. */
  keep?: (settled: Settled) => Promise<void>;
  /** Stores an answer that failed, or whose client left. */
  keepCutShort?: (end: CutShort) => Promise<void>;
}

/**
 * The stream for the client: the provider's batches, rendered. The settlement is on disk before the last event, as the
 * client may ask for the usage as soon as the stream ends. A client that leaves pays for what was generated.
 */
export async function* relayStream(
  deps: RelayDeps,
  started: StartedCall,
  { renderer, keep, keepCutShort }: RelayOptions,
): AsyncGenerator<string> {
  const { meter, answer } = started;
  let head = '';
  try {
    if (answer.kind !== 'stream') throw new TypeError('a stream was requested');
    head = renderer.head();
    for await (const batch of answer.batches) {
      meter.count(batch.events);
      const text = head + renderer.batch(batch);
      head = '';
      if (text !== '') yield text;
      if (meter.isOverspent()) {
        meter.finish = 'max_output_tokens';
        break;
      }
      meter.saveProgress();
    }
    const settled = await meter.settle({ status: meter.finish === 'stop' ? 'completed' : 'incomplete' });
    await keep?.(settled);
    started.finishRoute({ outputTokens: settled.tokens.output });
    yield head + renderer.finish(settled);
  } catch (error) {
    if (started.canceled() === 'client-left') return;
    const { failure, reason } = reportFailure(deps, started, error);
    const settled = await meter.settle(reason).catch(() => undefined);
    await keepCutShort?.({ failure, settled });
    yield head + renderer.fail(failure, settled);
  } finally {
    started.release();
    started.abort.abort('over');
    if (!meter.isSettled) {
      const settled = await meter.settle({ status: 'canceled' }).catch(() => undefined);
      await keepCutShort?.({ failure: undefined, settled });
    }
  }
}

/** Reports the failure of an answer after its start. Returns it for the caller, and how to settle the call. */
function reportFailure({ log }: RelayDeps, started: StartedCall, cause: unknown) {
  const canceled = started.canceled();
  const isProviders = !canceled && cause instanceof UpstreamFailure;
  if (isProviders) started.finishRoute({ failure: cause });
  const error = failureOf(started, cause);
  const { code, message, status } = error;
  if (code === 'server_error') log.warn({ err: cause }, 'an answer failed');
  const own = isProviders ? providerCode(cause) : undefined;
  const failure: StartedFailure = { type: errorType(code), code: own ?? code, message, status };
  return { failure, error, reason: settleReasonOf(canceled, code) };
}

function failureOf(started: StartedCall, error: unknown): ApiError {
  const canceled = started.canceled();
  if (canceled) return cancellationError(canceled);
  if (!(error instanceof UpstreamFailure)) return asApiError(error);
  const { answer, route } = started;
  const explained = answer.kind === 'stream' && answer.explain ? answer.explain(error) : error;
  const { publicMessage } = explained.details;
  const code = providerCode(error);
  const { provider } = route;
  const message = publicMessage || `${whatFailed(error, provider)}${code ? ` (${code})` : ''}.`;
  return new ApiError(error.kind === 'rate-limited' ? 'rate_limited' : 'upstream_failed', {
    message,
    extra: { attempts: started.meter.attempts.map(attemptView) },
    cause: error,
  });
}

function whatFailed({ kind }: UpstreamFailure, provider: string): string {
  return kind === 'timeout'
    ? `The answer of the provider ${provider} took too long and was cut off`
    : `The provider ${provider} ended its answer early`;
}

/** The provider's own error code, unless it is about the account there, which is not the caller's. */
function providerCode({ kind, details }: UpstreamFailure): string | undefined {
  return kind === 'authentication' || kind === 'billing' ? undefined : details.providerCode;
}

/** Reads a provider's stream to its end, for an answer that is returned whole. */
export async function readStream({ answer, meter, output }: StartedCall): Promise<void> {
  if (answer.kind !== 'stream') return;
  for await (const batch of answer.batches) {
    meter.count(batch.events);
    for (const event of batch.events) output.apply(event);
    if (meter.isOverspent()) {
      meter.finish = 'max_output_tokens';
      return;
    }
    meter.saveProgress();
  }
}

/**
 * Reads a whole answer of either kind, a document immediately; `countText` counts the text of a document that has no usage,
 * for the estimate.
 */
export function readWhole(
  started: StartedCall,
  countText: (document: Json, output: Output) => void,
): Promise<void> | undefined {
  const { answer, meter, output } = started;
  if (answer.kind !== 'json') return readStream(started);
  if (answer.tokens) meter.report(answer.tokens);
  else countText(answer.json, output);
  meter.finish = answer.finish;
  return undefined;
}

interface StoredReply {
  render: (settled: Settled) => RelayReply;
  slot: IdempotencySlot | undefined;
  /** How to settle an answer that failed. */
  reason?: SettleReason;
}

/**
 * Settles a whole answer. With a slot for an Idempotency-Key, the reply is rendered and stored in the same transaction,
 * and returned as `reply`; its body must then be sent.
 */
export async function settleWhole(
  { meter }: StartedCall,
  stored?: StoredReply,
): Promise<{ settled: Settled; reply: RelayReply | undefined }> {
  const {
    render,
    slot,
    reason = { status: meter.finish === 'stop' ? 'completed' : 'incomplete' },
  } = stored ?? {};
  let reply: RelayReply | undefined;
  const answer =
    render &&
    slot &&
    ((settled: Settled) => {
      reply = render(settled);
      return slot.record(reply);
    });
  const settled = await meter.settle({ ...reason, ...(answer && { answer }) });
  return { settled, reply };
}

/**
 * Runs `answer`, and settles and releases the call however it ends. A failure becomes an HTTP status, unless the format
 * has answers that failed: then `failed` settles a provider's failure and renders it.
 */
export async function answerWhole<T>(
  deps: RelayDeps,
  started: StartedCall,
  answer: () => Promise<T>,
  failed?: (failure: StartedFailure, reason: SettleReason) => Promise<T>,
): Promise<T> {
  try {
    return await answer();
  } catch (cause) {
    if (failed && !started.canceled() && cause instanceof UpstreamFailure) {
      const { failure, reason } = reportFailure(deps, started, cause);
      return await failed(failure, reason);
    }
    const { error, reason } = reportFailure(deps, started, cause);
    await started.meter.settle(reason).catch(() => {});
    throw error;
  } finally {
    started.release();
    if (started.answer.kind === 'stream') started.abort.abort('over');
    if (!started.meter.isSettled) await started.meter.settle({ status: 'canceled' }).catch(() => {});
  }
}
