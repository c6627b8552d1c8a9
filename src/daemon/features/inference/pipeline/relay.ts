import { ApiError } from '../../../../shared/errors.ts';
import type { RelayReply } from '../../../handler.ts';
import type { AnswerPlace } from '../../idempotency/index.ts';
import { UpstreamFailure } from '../upstream.ts';
import { cancellationError, settledAs } from './cancellation.ts';
import { type Settled, type StartedFailure, type StreamRenderer, startedType } from './renderer.ts';
import { asApiError, type InferenceDeps, type StartedCall } from './start-call.ts';

/** Headers of a model answer; a stream has no cost yet. */
export function answerHeaders(started: StartedCall, settled?: Settled): Record<string, string> {
  const headers: Record<string, string> = {
    'x-service-model': headerText(started.route.offer.model),
    'x-service-upstream': started.route.provider,
  };
  if (started.route.kind === 'cache') headers['x-service-cache'] = 'hit';
  else if (started.route.cacheMiss) headers['x-service-cache'] = 'miss';
  const { cost, own_key: ownKey } = settled?.service ?? {};
  // What a workspace's own key was used for, its own account pays.
  if (cost) headers['x-service-cost-usd'] = ownKey ? '0' : cost.total_usd;
  return headers;
}

/** Headers hold printable ASCII, and a model whose name is forwarded may be called anything: the rest is percent-encoded. */
function headerText(name: string): string {
  return name.toWellFormed().replace(/[^\x20-\x7e]/gu, encodeURIComponent);
}

/**
 * The stream that the caller gets: the provider's batches, rendered; then the settlement, on disk before the last
 * event, as a reader may ask for the usage the moment the stream ends. `keep` stores the answer. Whoever leaves early
 * pays for what was made.
 */
export async function* relayStream(
  deps: InferenceDeps,
  started: StartedCall,
  { renderer, keep }: { renderer: StreamRenderer; keep?: (settled: Settled) => Promise<void> },
): AsyncGenerator<string> {
  const { meter, answer } = started;
  let head = '';
  try {
    if (answer.kind !== 'stream') throw new TypeError('a stream was asked for');
    head = renderer.head();
    for await (const batch of answer.batches) {
      meter.see(batch.events);
      const text = head + renderer.batch(batch);
      head = '';
      if (text !== '') yield text;
      if (meter.isOverspent()) {
        meter.finish = 'max_output_tokens';
        break;
      }
      meter.keepProgress();
    }
    const settled = await meter.settle({ status: meter.finish === 'stop' ? 'completed' : 'incomplete' });
    await keep?.(settled);
    started.finishRoute({ outputTokens: settled.tokens.output });
    yield head + renderer.finish(settled);
  } catch (error) {
    if (started.ended() === 'client-left') return;
    const { failure, settled } = await failStarted(deps, started, error);
    yield head + renderer.fail(failure, settled);
  } finally {
    started.release();
    started.abort.abort('over');
    if (!meter.isSettled) await meter.settle({ status: 'canceled' }).catch(() => {});
  }
}

/** Settles an answer that broke after its start and says how the caller is told. */
export async function failStarted(
  deps: InferenceDeps,
  started: StartedCall,
  error: unknown,
): Promise<{ failure: StartedFailure; settled: Settled | undefined }> {
  const failure = startedFailure(started, error);
  if (failure.code === 'server_error') deps.log.warn({ err: error }, 'an answer broke');
  const reason = settledAs(started.ended(), failure.code);
  const settled = await started.meter.settle(reason).catch(() => undefined);
  if (!started.ended() && error instanceof UpstreamFailure) started.finishRoute({ failure: error });
  return { failure, settled };
}

function startedFailure(started: StartedCall, error: unknown): StartedFailure {
  const ended = started.ended();
  if (ended) return show(cancellationError(ended));
  if (error instanceof UpstreamFailure) {
    const message = `The provider ${started.route.provider} broke off its answer.`;
    return show(
      new ApiError(error.kind === 'rate-limited' ? 'rate_limited' : 'upstream_failed', { message }),
    );
  }
  return show(asApiError(error));
}

function show(error: ApiError): StartedFailure {
  const { code, message, status } = error;
  return { type: startedType(code), code, message, status };
}

/** Reads a provider's stream to its end for a caller who wants the answer whole. */
export async function drain(started: StartedCall): Promise<void> {
  const { answer, meter, output } = started;
  if (answer.kind !== 'stream') return;
  for await (const batch of answer.batches) {
    meter.see(batch.events);
    for (const event of batch.events) output.apply(event);
    if (meter.isOverspent()) {
      meter.finish = 'max_output_tokens';
      return;
    }
    meter.keepProgress();
  }
}

/**
 * Settles a whole answer; one that has a place is kept in it by the same transaction. `reply` is the answer as it was
 * kept: given as it is, it is neither written nor kept again.
 */
export async function settleWhole(
  { meter }: StartedCall,
  { render, place }: { render: (settled: Settled) => RelayReply; place: AnswerPlace | undefined },
): Promise<{ settled: Settled; reply: RelayReply | undefined }> {
  const status = meter.finish === 'stop' ? 'completed' : 'incomplete';
  let reply: RelayReply | undefined;
  const keepAnswer = (to: AnswerPlace) => (settled: Settled) => {
    reply = render(settled);
    return to.take(reply);
  };
  const settled = await meter.settle({ status, ...(place && { answer: keepAnswer(place) }) });
  return { settled, reply };
}

/**
 * Runs what makes a whole answer and sees to it that the call is settled and let go of, however that ends. A failure
 * before the first byte is still a status.
 */
export async function wholeAnswer<T>(
  deps: InferenceDeps,
  started: StartedCall,
  make: () => Promise<T>,
): Promise<T> {
  try {
    return await make();
  } catch (error) {
    const ended = started.ended();
    if (ended) {
      const failure = cancellationError(ended);
      await started.meter.settle(settledAs(ended, failure.code)).catch(() => {});
      throw failure;
    }
    const { failure } = await failStarted(deps, started, error);
    // A fault of ours is told as one.
    if (!(error instanceof UpstreamFailure)) throw asApiError(error);
    throw new ApiError(failure.code === 'rate_limited' ? 'rate_limited' : 'upstream_failed', {
      message: failure.message,
      cause: error,
    });
  } finally {
    started.release();
    // A document is here as a whole.
    if (started.answer.kind === 'stream') started.abort.abort('over');
    if (!started.meter.isSettled) await started.meter.settle({ status: 'canceled' }).catch(() => {});
  }
}
