import type { Endpoint } from '../../../shared/contract/endpoint.ts';
import { asApiError } from '../../../shared/errors.ts';
import type { OpenedRoute, Route } from '../routing/index.ts';
import type { Batch, CallFormat, Inference, ReasoningOrigin } from '../upstreams/neutral.ts';
import type { Dropped, UpstreamAnswer } from '../upstreams/upstream.ts';
import { admit } from './admit.ts';
import type { CallDeps } from './call-deps.ts';
import { type ModelCall, observersOf } from './call-observer.ts';
import { type CancelReason, cancellationError, settleReasonOf, watchCancellation } from './cancellation.ts';
import { speaksFormat } from './capable-routes.ts';
import type { Meter } from './meter.ts';
import { createOutput, type Output } from './output-items.ts';
import { noTokens } from './pricing/cost-bound.ts';
import { readAhead } from './read-ahead.ts';
import type { Settled } from './renderer.ts';
import type { Sealer } from './sealing.ts';
import { AnsweredCall, type StartedCall } from './started-call.ts';

/** Prepares the rendering of a call that a provider has started to answer. */
export type FormatOf<Format> = (answered: AnsweredCall) => Format;

/** Changes a provider's answer before it is read. `count` adds to its characters, for the estimate. */
export type RewriteAnswer = (answer: UpstreamAnswer, output: Pick<Output, 'count'>) => UpstreamAnswer;

/** A call that was admitted and that no provider answered. */
export interface FailedStart {
  /** Why it was canceled, if it was. */
  reason: CancelReason | undefined;
  /** Undefined if the settlement could not be written. */
  settled: Settled | undefined;
}

interface StartOptions {
  rewrite?: RewriteAnswer | undefined;
  /** Called when the hold of a stream is on disk, so that its client may get bytes, with the routes that are tried. */
  onHeld?: (routes: readonly Route[]) => void;
  /** Called before the rejection of a call that was admitted. */
  onFailed?: (failed: FailedStart) => void;
}

/**
 * Plans, admits and opens a call. The hold is written while the request to the provider is already under way; the answer
 * reaches the client only once the hold is on disk. A call that is admitted and fails to start is settled.
 */
export async function startCall<Format>(
  deps: CallDeps,
  call: ModelCall,
  formatOf: FormatOf<Format>,
  { rewrite, onHeld, onFailed }: StartOptions = {},
): Promise<{ started: StartedCall; format: Format; headers: Record<string, string> }> {
  const capture = deps.captures?.begin(call);
  const guard = deps.settings.guardrails.isUsed ? deps.guardrails.begin(call) : undefined;
  const { meter, cap, slots } = await admit(deps, call, capture, guard);
  meter.hooks = guard?.runs;
  const { abort, canceled, release } = watchCancellation(call, deps.running);
  let asked: Route | undefined;
  try {
    const inference = guard ? guard.outgoing(cap.routes) : call.inference;
    const opening =
      openedWithoutAnswer(cap.routes, inference) ??
      deps.router.open({
        routes: cap.routes,
        inference,
        fallbackOn: call.options.fallbackOn,
        outputTokensMaxFor: cap.outputTokensOn,
        signal: abort.signal,
        attempts: meter.attempts,
        slots,
        capture,
        onAttempt(route, attempt) {
          asked = route;
          meter.attemptStarted();
          const routed = { call, model: route.offer.model, provider: route.provider, attempt };
          for (const observer of observersOf(deps, call)) observer.onRouted?.(routed);
        },
        ...(!inference.stream && { readAhead: (answer, route) => readAhead(answer, route, meter) }),
      });
    const {
      route,
      answer: opened,
      ended,
    } = await withHold(opening, meter, inference, () => onHeld?.(cap.routes));
    if (inference.stream) capture?.started();
    const output = createOutput(deps.makeId, sealFor(deps.sealer, call.caller.workspaceId));
    meter.answerStarted(route, output);
    meter.dropped = droppedFrom(opened, inference, { isShortened: cap.isShortenedOn(route) });
    const passed = guard ? await guard.answer(opened, route, abort.signal) : opened;
    const answer = rewrite ? rewrite(passed, output) : passed;
    const started = { answer, route, finishRoute: ended, meter, output, capture, abort, canceled, release };
    const answered = new AnsweredCall(started);
    return { started, format: formatOf(answered), headers: inference.stream ? answered.headers() : {} };
  } catch (error) {
    abort.abort(error);
    release();
    const reason = canceled();
    const failure = reason ? cancellationError(reason) : asApiError(error);
    if (reason !== 'client-left') capture?.failed(failure);
    capture?.ended();
    // A provider that was asked may have worked on the prompt before the call was canceled.
    if (reason && asked) meter.chargePromptOf(asked);
    const settled = await meter.settle(settleReasonOf(reason, failure)).catch(() => undefined);
    onFailed?.({ reason, settled });
    throw failure;
  }
}

type PassedCall<B> = Pick<ModelCall, 'caller' | 'requestId' | 'signal'> & { endpoint: Endpoint; body: B };

/** The body of a request as the hooks let it through. Fails with `guardrail_refused`, or with `unavailable` for a hook that failed. */
export function passedBody<B extends object>(
  { settings, guardrails }: Pick<CallDeps, 'settings' | 'guardrails'>,
  call: PassedCall<B>,
): B | Promise<B> {
  return settings.guardrails.isUsed && guardrails.checksRequests ? guardrails.request(call) : call.body;
}

/** The members that name the longest output, by format; each call has at most one. */
const maximums: Readonly<Record<CallFormat, readonly string[]>> = {
  responses: ['max_output_tokens'],
  chat: ['max_completion_tokens', 'max_tokens'],
  messages: ['max_tokens'],
  embeddings: [],
};

/** What was left out of a call or reduced, its maximum included if money shortens it. */
function droppedFrom(
  { dropped = [] }: UpstreamAnswer,
  { wire, outputTokensMax, body }: Inference,
  { isShortened }: { isShortened: boolean },
): readonly Dropped[] {
  if (!isShortened || outputTokensMax === undefined) return dropped;
  const param = maximums[wire].find((name) => typeof body[name] === 'number');
  return param === undefined ? dropped : [{ param }, ...dropped];
}

/** An empty answer, for a call that wants none and whose providers would generate one; undefined for other calls. */
function openedWithoutAnswer(
  [route]: readonly Route[],
  inference: Inference,
): Promise<OpenedRoute> | undefined {
  if (!inference.wantsNoAnswer || route === undefined || speaksFormat(route, inference)) return undefined;
  async function* batches(): AsyncGenerator<Batch> {
    const events: Batch['events'] = [
      { type: 'usage', tokens: noTokens },
      { type: 'finished', reason: 'max_output_tokens' },
    ];
    yield { events, frames: undefined };
  }
  return Promise.resolve({ answer: { kind: 'stream', batches: batches() }, route, ended: () => {} });
}

/**
 * Waits for the hold before the first byte of a stream. A whole answer waits for its settlement anyway, which is written
 * after the hold; until the provider answers, a hold that cannot be written still ends the call.
 */
function withHold(
  opening: Promise<OpenedRoute>,
  meter: Meter,
  { stream }: Inference,
  onHeld: () => void,
): Promise<OpenedRoute> {
  const committed = meter.holdCommitted();
  return new Promise((resolve, reject) => {
    committed.then(onHeld, reject);
    opening.then(stream ? (opened) => committed.then(() => resolve(opened), reject) : resolve, reject);
  });
}

/** A separate function, as a closure in `startCall` would retain the request for as long as the answer runs. */
function sealFor(sealer: Sealer, workspaceId: string) {
  return (origin: ReasoningOrigin) => sealer.seal(workspaceId, origin);
}
