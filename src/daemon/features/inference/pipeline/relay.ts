import { ApiError } from '../../../../shared/errors.ts';
import type { RelayReply } from '../../../handler.ts';
import type { IdempotencySlot } from '../../idempotency/index.ts';
import { asApiError } from '../fault.ts';
import { UpstreamFailure } from '../upstream.ts';
import { cancellationError, settleReasonOf } from './cancellation.ts';
import { errorType, type Settled, type StartedFailure, type StreamRenderer } from './renderer.ts';
import type { CallDeps, StartedCall } from './started-call.ts';

type RelayDeps = Pick<CallDeps, 'log'>;

/** The headers of a model answer. A stream has no cost yet. */
export function answerHeaders({ route }: StartedCall, settled?: Settled): Record<string, string> {
  const headers: Record<string, string> = {
    'x-service-model': headerText(route.offer.model),
    'x-service-upstream': route.provider,
  };
  if (route.kind === 'cache') headers['x-service-cache'] = 'hit';
  else if (route.cacheMiss) headers['x-service-cache'] = 'miss';
  const { cost, own_key: ownKey } = settled?.service ?? {};
  // With the workspace's own key, the workspace pays the provider directly.
  if (cost) headers['x-service-cost-usd'] = ownKey ? '0' : cost.total_usd;
  return headers;
}

/** Headers hold printable ASCII only; other characters of a model's name are percent-encoded. */
function headerText(name: string): string {
  return name.toWellFormed().replace(/[^\x20-\x7e]/gu, encodeURIComponent);
}

interface RelayOptions {
  renderer: StreamRenderer;
  /** Stores the answer. */
  keep?: (settled: Settled) => Promise<void>;
}

/**
 * The stream for the client: the provider's batches, rendered. The settlement is on disk before the last event, as the
 * client may ask for the usage as soon as the stream ends. A client that leaves pays for what was generated.
 */
export async function* relayStream(
  deps: RelayDeps,
  started: StartedCall,
  { renderer, keep }: RelayOptions,
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
    const { failure, settled } = await settleFailed(deps, started, error);
    yield head + renderer.fail(failure, settled);
  } finally {
    started.release();
    started.abort.abort('over');
    if (!meter.isSettled) await meter.settle({ status: 'canceled' }).catch(() => {});
  }
}

/** Settles an answer that failed after its start, and returns the failure for the caller. */
async function settleFailed(
  deps: RelayDeps,
  started: StartedCall,
  error: unknown,
): Promise<{ failure: StartedFailure; settled: Settled | undefined }> {
  const canceled = started.canceled();
  const { code, message, status } = failureOf(started, error);
  if (code === 'server_error') deps.log.warn({ err: error }, 'an answer failed');
  const settled = await started.meter.settle(settleReasonOf(canceled, code)).catch(() => undefined);
  if (!canceled && error instanceof UpstreamFailure) started.finishRoute({ failure: error });
  return { failure: { type: errorType(code), code, message, status }, settled };
}

function failureOf(started: StartedCall, error: unknown): ApiError {
  const canceled = started.canceled();
  if (canceled) return cancellationError(canceled);
  if (!(error instanceof UpstreamFailure)) return asApiError(error);
  const message = `The provider ${started.route.provider} ended its answer early.`;
  return new ApiError(error.kind === 'rate-limited' ? 'rate_limited' : 'upstream_failed', { message });
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

interface StoredReply {
  render: (settled: Settled) => RelayReply;
  slot: IdempotencySlot | undefined;
}

/**
 * Settles a whole answer. With a slot for an Idempotency-Key, the reply is rendered and stored in the same transaction,
 * and returned as `reply`; the same object must then be sent.
 */
export async function settleWhole(
  { meter }: StartedCall,
  stored?: StoredReply,
): Promise<{ settled: Settled; reply: RelayReply | undefined }> {
  const status = meter.finish === 'stop' ? 'completed' : 'incomplete';
  const { render, slot } = stored ?? {};
  let reply: RelayReply | undefined;
  const answer =
    render &&
    slot &&
    ((settled: Settled) => {
      reply = render(settled);
      return slot.record(reply);
    });
  const settled = await meter.settle({ status, ...(answer && { answer }) });
  return { settled, reply };
}

/** Runs `answer`, and settles and releases the call however it ends. A failure becomes an HTTP status. */
export async function answerWhole<T>(
  deps: RelayDeps,
  started: StartedCall,
  answer: () => Promise<T>,
): Promise<T> {
  try {
    return await answer();
  } catch (error) {
    const canceled = started.canceled();
    if (canceled) {
      const failure = cancellationError(canceled);
      await started.meter.settle(settleReasonOf(canceled, failure.code)).catch(() => {});
      throw failure;
    }
    const { failure } = await settleFailed(deps, started, error);
    if (!(error instanceof UpstreamFailure)) throw asApiError(error);
    throw new ApiError(failure.code === 'rate_limited' ? 'rate_limited' : 'upstream_failed', {
      message: failure.message,
      cause: error,
    });
  } finally {
    started.release();
    if (started.answer.kind === 'stream') started.abort.abort('over');
    if (!started.meter.isSettled) await started.meter.settle({ status: 'canceled' }).catch(() => {});
  }
}
