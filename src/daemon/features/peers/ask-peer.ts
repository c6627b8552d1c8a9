import { ApiError } from '../../../shared/errors.ts';
import { noCost } from '../../../shared/money/money.ts';
import { timeLimit, type World } from '../../base/world.ts';
import {
  type AskOptions,
  type DecisionRequest,
  type SourceAnswer,
  SourceFailure,
  sourceFailureOf,
  verified,
} from '../decisions/index.ts';
import { UpstreamFailure } from '../upstreams/upstream.ts';
import type { PeerAddress, PeerClient } from './client.ts';
import type { PeerFault, PeerState } from './peer-state.ts';

/** For the answer of one peer. */
const peerDeadlineMs = 8000;
/** A gateway sends unrounded numbers. */
const sumTolerance = 1e-6;

export interface AskPeerDeps {
  client: PeerClient;
  /** Its address with its key. Fails with `unavailable` while the vault is sealed. */
  addressOf: (peer: PeerState) => Promise<PeerAddress>;
  world: Pick<World, 'elapsed' | 'sleep'>;
}

/** The parts of a request that are the same for every peer. */
export interface PeerQuestionContext {
  via: readonly string[];
  idempotencyKey: string | undefined;
  /** The time left for the whole decision, in milliseconds. */
  remainingMs: () => number;
}

export type PeerOutcome =
  | { peer: PeerState; ms: number; answer: SourceAnswer }
  | { peer: PeerState; ms: number; fault: PeerFault }
  /** The signal was aborted: another peer was faster, or the client left. */
  | { peer: PeerState; ms: number; canceled: true };

/** Asks a peer for one decision within its deadline, and verifies the answer. Never rejects. */
export async function askPeer(
  { client, addressOf, world }: AskPeerDeps,
  peer: PeerState,
  {
    model,
    request,
    options,
    context,
  }: {
    model: string;
    request: DecisionRequest;
    options: Pick<AskOptions, 'debias'>;
    context: PeerQuestionContext;
  },
  signal: AbortSignal,
): Promise<PeerOutcome> {
  const startedAt = world.elapsed();
  const deadlineMs = Math.max(1, Math.floor(Math.min(peerDeadlineMs, context.remainingMs())));
  const late = timeLimit(world, deadlineMs, () => new SourceFailure('timeout', 'it took too long'));
  const elapsed = () => world.elapsed() - startedAt;
  try {
    const { via, idempotencyKey } = context;
    const question = { model, request, debias: options.debias, deadlineMs, via, idempotencyKey };
    const isGateway = peer.card?.nodeId != null;
    const native = await client.decide(
      await addressOf(peer),
      { ...question, isGateway },
      AbortSignal.any([signal, late.signal]),
    );
    requireIdentity(peer, model, native.model);
    const answers = verified(request.questions, native, sumTolerance).map((each) => ({
      ...each,
      diagnostics: {},
    }));
    const answer: SourceAnswer = {
      model: native.model ?? model,
      method: 'native',
      answers,
      tokens: native.tokens,
      cost: noCost,
      ownKey: false,
      calibrated: native.calibrated ?? false,
    };
    return { peer, ms: elapsed(), answer };
  } catch (error) {
    if (signal.aborted && !late.signal.aborted) return { peer, ms: elapsed(), canceled: true };
    return { peer, ms: elapsed(), fault: faultOf(late.signal.aborted ? late.signal.reason : error) };
  } finally {
    late.clear();
  }
}

/** Fails if a peer answered as something else than its card states for the model. */
function requireIdentity({ card }: PeerState, model: string, answered: string | undefined): void {
  const models = card?.models ?? [];
  const meant = models.find(({ id }) => id === model);
  const identities = (meant ? [meant] : models).flatMap(({ identity }) => identity ?? []);
  if (identities.length === 0 || identities.includes(answered ?? '')) return;
  throw new SourceFailure('wrong_model', 'it answered as a different model');
}

/** In place of the messages of failures, which name hosts. */
const sentences: Readonly<Record<string, string>> = {
  authentication: 'it does not accept the key',
  billing: 'it asks to be paid',
  rate_limited: 'it is asked too often',
  server_error: 'it failed',
  timeout: 'it took too long',
  unreachable: 'it cannot be reached',
  wrong_shape: 'its answer does not fit the questions',
  wrong_model: 'it answered as a different model',
  model_not_found: 'it makes no decisions with this model',
};

/** What a failed call means for the peer. A key it rejects, or credit it asks for, does not change within minutes. */
export function faultOf(error: unknown): PeerFault {
  const code = error instanceof UpstreamFailure ? (error.details.status ?? null) : null;
  const failure = error instanceof UpstreamFailure ? sourceFailureOf(error) : error;
  if (failure instanceof SourceFailure) {
    const { outcome, message, benchMs } = failure;
    const isWrong = outcome === 'wrong_shape' || outcome === 'wrong_model';
    return {
      outcome,
      message: sentences[outcome] ?? message,
      code: isWrong ? 200 : code,
      bench: benchMs ?? (isWrong ? 'always' : 'after-several'),
    };
  }
  if (!(failure instanceof ApiError)) throw error;
  // The request was checked here, so its rejection says something about the peer.
  if (code !== null) {
    const message = `it rejected the request with ${code}`;
    return { outcome: 'rejected', message, code, bench: 'after-several' };
  }
  // Such as a sealed vault: nothing that the peer could help.
  return { outcome: failure.code, message: failure.message, code, bench: 'after-several' };
}
