import type { JsonObject } from '../../../shared/json/json-object.ts';
import { RelayReply } from '../../base/handler.ts';
import type { SlotAnswer } from '../idempotency/index.ts';
import type { CallDeps } from './call-deps.ts';
import type { ModelCall } from './call-observer.ts';
import type { SettleReason } from './meter.ts';
import { noTokens } from './pricing/cost-bound.ts';
import type { Settled, StartedFailure, StreamRenderer } from './renderer.ts';
import { type FormatOf, type RewriteAnswer, startCall } from './start-call.ts';
import type { StartedCall } from './started-call.ts';
import { explainFailure, providersFailure } from './started-failure.ts';

/** How an answer ended before it was complete; without a failure it was canceled. */
export interface CutShort {
  failure: StartedFailure | undefined;
  /** Undefined if the settlement could not be written. */
  settled: Settled | undefined;
}

/** The HTTP status of every answer; that of a stream has been sent before the answer fails. */
const answeredStatus = 200;

interface AnswerFormat {
  /** The id of the answer, for the usage record. */
  responseId?: string;
  /** Stores the answer, after its settlement. */
  keep?: (settled: Settled) => Promise<void>;
  /**
   * Deletes what `keep` stored of a call that could not be settled. With it, `keep` begins with the settlement, so that one commit
   * has both.
   */
  discard?: () => Promise<void>;
  /** Stores an answer that failed or was canceled. */
  keepCutShort?: (end: CutShort) => Promise<void>;
}

/** How a format renders the stream of one answer. */
export interface StreamFormat extends AnswerFormat {
  renderer: StreamRenderer;
}

/** How a format reads and renders one whole answer. */
export interface WholeFormat<Reply> extends AnswerFormat {
  /** Assembles `output` from a document in the caller's format. */
  assemble?: (document: JsonObject) => void;
  /** Counts the text of a document in `output`, for the estimate; called if the provider counted no tokens. */
  countText?: (document: JsonObject) => void;
  /** Throws if the answer cannot be used; the call has then failed. */
  check?: () => void;
  render: (settled: Settled) => Reply;
  /** Renders an answer that the provider failed to complete; without it the call fails with an HTTP status. */
  renderFailed?: (failure: StartedFailure, settled: Settled) => Reply;
  /** Whether `keep` or `keepCutShort` changed the answer, so that it has to be rendered again. */
  hasChanged?: () => boolean;
}

interface WholeOptions<Reply> {
  rewrite?: RewriteAnswer | undefined;
  /** Stores the reply for the call's Idempotency-Key, in the transaction of the settlement. */
  slot?: { record(reply: Reply): SlotAnswer | undefined } | undefined;
}

/** The texts of a stream, of which each is whole events. */
export async function* relayStream(
  deps: Pick<CallDeps, 'log'>,
  started: StartedCall,
  format: StreamFormat,
): AsyncGenerator<string> {
  const { renderer, responseId, keepCutShort } = format;
  const { meter, answer, capture } = started;
  meter.responseId = responseId ?? null;
  let head = '';
  try {
    if (answer.kind !== 'stream') throw new TypeError('a stream was requested');
    head = renderer.head();
    for await (const batch of answer.batches) {
      meter.count(batch.events);
      const text = head + renderer.batch(batch);
      head = '';
      if (text !== '') {
        capture?.answered(text);
        yield text;
      }
      if (meter.isOverspent()) {
        meter.finish = 'max_output_tokens';
        break;
      }
      meter.saveProgress();
    }
    const settled = await settleAndKeep(started, answeredReason(started), format);
    started.finishRoute({ outputTokens: settled.tokens.output });
    const end = head + renderer.finish(settled);
    capture?.answered(end);
    yield end;
  } catch (error) {
    if (started.canceled() === 'client-left') return;
    const { failure, reason } = fail(deps, started, error);
    const settled = await meter.settle({ ...reason, httpStatus: answeredStatus }).catch(() => undefined);
    await keepCutShort?.({ failure, settled });
    const end = head + renderer.fail(failure, settled);
    capture?.answered(end);
    yield end;
  } finally {
    capture?.ended();
    started.release();
    started.abort.abort('over');
    if (!meter.isSettled) {
      const settled = await meter
        .settle({ status: 'canceled', httpStatus: answeredStatus })
        .catch(() => undefined);
      await keepCutShort?.({ failure: undefined, settled });
    }
  }
}

/** Makes a call and answers it whole. Rejects for a call that fails, unless the format has answers that failed. */
export async function wholeCall<Reply>(
  deps: CallDeps,
  call: ModelCall,
  formatOf: FormatOf<WholeFormat<Reply>>,
  { rewrite, slot }: WholeOptions<Reply> = {},
): Promise<Reply> {
  const { started, format } = await startCall(deps, call, formatOf, { rewrite });
  return await answerWhole(deps, started, format, slot);
}

/** Reads, settles, keeps and renders a whole answer, and releases the call however it ends. */
export async function answerWhole<Reply>(
  deps: Pick<CallDeps, 'log'>,
  started: StartedCall,
  format: WholeFormat<Reply>,
  slot?: WholeOptions<Reply>['slot'],
): Promise<Reply> {
  const { meter, capture } = started;
  meter.responseId = format.responseId ?? null;
  const kept = (reply: Reply): Reply => {
    if (capture && reply instanceof RelayReply) capture.answered(reply.body);
    return reply;
  };
  const settle = async (
    reason: SettleReason,
    render: (settled: Settled) => Reply,
    keeping: Pick<AnswerFormat, 'keep' | 'discard'> = {},
  ) => {
    let recorded: Reply | undefined;
    const answer =
      slot &&
      ((settled: Settled) => {
        recorded = render(settled);
        return slot.record(recorded);
      });
    const settled = await settleAndKeep(started, { ...reason, ...(answer && { answer }) }, keeping);
    const reply = () => (recorded === undefined || format.hasChanged?.() ? render(settled) : recorded);
    return { settled, reply };
  };
  try {
    const reading = readWhole(started, format);
    if (reading) await reading;
    format.check?.();
    const { settled, reply } = await settle(answeredReason(started), format.render, format);
    started.finishRoute(started.answer.kind === 'embeddings' ? {} : { outputTokens: settled.tokens.output });
    return kept(reply());
  } catch (cause) {
    const { error, failure, reason, isProviders } = fail(deps, started, cause);
    const { renderFailed } = format;
    if (!renderFailed || !isProviders) {
      if (started.canceled() !== 'client-left') capture?.failed(error);
      await meter.settle(reason).catch(() => {});
      throw error;
    }
    const { settled, reply } = await settle({ ...reason, httpStatus: answeredStatus }, (end) =>
      renderFailed(failure, end),
    );
    await format.keepCutShort?.({ failure, settled });
    return kept(reply());
  } finally {
    capture?.ended();
    started.release();
    if (started.answer.kind === 'stream') started.abort.abort('over');
    if (!meter.isSettled) await meter.settle({ status: 'canceled', httpStatus: null }).catch(() => {});
  }
}

/** Settles a call and stores its answer. */
async function settleAndKeep(
  { meter }: StartedCall,
  reason: SettleReason,
  { keep, discard }: Pick<AnswerFormat, 'keep' | 'discard'>,
): Promise<Settled> {
  if (keep === undefined || discard === undefined) {
    const settled = await meter.settle(reason);
    await keep?.(settled);
    return settled;
  }
  let keeping: Promise<void> | undefined;
  // Called while the settlement is queued, if this is what settles the call.
  const answer = (settled: Settled) => {
    keeping = keep(settled);
    keeping.catch(() => {});
    return reason.answer?.(settled);
  };
  try {
    const settled = await meter.settle({ ...reason, answer });
    await (keeping ?? keep(settled));
    return settled;
  } catch (error) {
    if (keeping) await keeping.then(discard).catch(() => {});
    throw error;
  }
}

/** Reports a failure to routing, which notes it in the call's attempts, and explains it. */
function fail(deps: Pick<CallDeps, 'log'>, started: StartedCall, cause: unknown) {
  const failure = providersFailure(started, cause);
  if (failure) started.finishRoute({ failure });
  return { ...explainFailure(deps, started, cause), isProviders: failure !== undefined };
}

function answeredReason({ meter }: StartedCall): SettleReason {
  return { status: meter.finish === 'stop' ? 'completed' : 'incomplete', httpStatus: answeredStatus };
}

/** Reads a whole answer of any kind; a document is read immediately. */
function readWhole<Reply>(started: StartedCall, format: WholeFormat<Reply>): Promise<void> | undefined {
  const { answer, meter } = started;
  if (answer.kind === 'stream') return readStream(started);
  if (answer.kind === 'embeddings') {
    const { inputTokens } = answer;
    if (inputTokens !== undefined) meter.report({ ...noTokens, input: inputTokens });
    return undefined;
  }
  format.assemble?.(answer.json);
  const isReported = answer.tokens !== undefined && meter.report(answer.tokens, answer.billed);
  if (!isReported) format.countText?.(answer.json);
  meter.finish = answer.finish;
  meter.providerReason = answer.providerReason;
  meter.servedModel = answer.servedModel;
  if (answer.failure) throw answer.failure;
  return undefined;
}

/** Reads a provider's stream to its end, for an answer that is returned whole. */
async function readStream({ answer, meter, output }: StartedCall): Promise<void> {
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
