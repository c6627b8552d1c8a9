import type { World } from '../../base/world.ts';
import {
  type AskOptions,
  type DecisionRequest,
  type DecisionSource,
  type SourceAnswer,
  SourceFailure,
} from '../decisions/index.ts';
import type { PeerOutcome } from './ask-peer.ts';
import type { PeerState } from './peer-state.ts';

/** Peers that one decision is sent to. */
const peersPerDecision = 2;

/** Allows a second request for at most one in twenty calls. */
export class HedgeBudget {
  readonly #share = 0.05;
  readonly #max = 10;
  #credit = 1;

  /** To be called for each call to a peer. */
  called(): void {
    this.#credit = Math.min(this.#max, this.#credit + this.#share);
  }

  take(): boolean {
    if (this.#credit < 1) return false;
    this.#credit -= 1;
    return true;
  }
}

export interface PeersSourceDeps {
  /** Peers that may be asked, best first. */
  candidates: readonly PeerState[];
  /** Why others may not, as attempts. */
  skipped: readonly { source: string; outcome: string; message: string }[];
  /** Why a candidate cannot be asked at this moment: other decisions may have taken its slots. */
  unavailable: (peer: PeerState) => { outcome: string; message: string } | undefined;
  /** Asks one, and records the outcome. Never rejects. */
  ask(
    peer: PeerState,
    question: { request: DecisionRequest; options: AskOptions; isHedge: boolean },
    signal: AbortSignal,
  ): Promise<PeerOutcome>;
  hedges: HedgeBudget;
  world: Pick<World, 'sleep'>;
}

/**
 * The peers of a workspace as one source: the best is asked, and the next one when it fails, or when it takes longer than it
 * usually does. The first valid answer counts; the other call is canceled.
 */
export function peersSource({
  candidates,
  skipped,
  unavailable,
  ask,
  hedges,
  world,
}: PeersSourceDeps): DecisionSource {
  return {
    name: 'peers',
    benchKey: 'peers',
    async decide(request, options, signal) {
      const waiting = [...candidates];
      const passedOver = [...skipped];
      const over = new AbortController();
      const both = AbortSignal.any([signal, over.signal]);
      const running = new Map<PeerState, Promise<PeerOutcome>>();
      const failed: Failed[] = [];
      let asked = 0;
      const canStart = () => asked < peersPerDecision && waiting.some((peer) => !unavailable(peer));
      /** Asks the best peer that can be asked at this moment, if there is one. */
      const start = (isHedge: boolean): PeerState | undefined => {
        while (asked < peersPerDecision) {
          const peer = waiting.shift();
          if (!peer) return undefined;
          const reason = unavailable(peer);
          if (reason) {
            passedOver.push({ source: peer.name, ...reason });
            continue;
          }
          asked += 1;
          hedges.called();
          running.set(peer, ask(peer, { request, options, isHedge }, both));
          return peer;
        }
        return undefined;
      };
      const first = start(false);
      if (first === undefined) throw noneAvailable(passedOver);
      let slow: Promise<'slow'> | undefined =
        waiting.length > 0
          ? world.sleep(first.hedgeMs(), over.signal).then(
              () => 'slow' as const,
              () => new Promise<never>(() => {}),
            )
          : undefined;
      try {
        while (running.size > 0) {
          const next = await Promise.race([...running.values(), ...(slow ? [slow] : [])]);
          if (next === 'slow') {
            slow = undefined;
            if (canStart() && hedges.take()) start(true);
            continue;
          }
          running.delete(next.peer);
          if ('answer' in next) return answered(next, failed);
          signal.throwIfAborted();
          if ('fault' in next) failed.push({ peer: next.peer, ms: next.ms, ...next.fault });
          if (running.size === 0) start(false);
        }
        throw allFailed(failed);
      } finally {
        over.abort();
      }
    },
  };
}

interface Failed {
  peer: PeerState;
  ms: number;
  outcome: string;
  message: string;
}

function attemptsOf(failed: readonly Failed[]) {
  return failed.map(({ peer, outcome, ms }) => ({ source: peer.name, outcome, ms: Math.round(ms) }));
}

function answered({ peer, answer }: { peer: PeerState; answer: SourceAnswer }, failed: readonly Failed[]) {
  return { ...answer, answeredBy: peer.name, failedAttempts: attemptsOf(failed) };
}

function allFailed(failed: readonly Failed[]): SourceFailure {
  const message = failed.map(({ peer, message: reason }) => `${peer.name}: ${reason}`).join('; ');
  return new SourceFailure(failed.at(-1)?.outcome ?? 'unavailable', message, {
    attempts: attemptsOf(failed),
  });
}

function noneAvailable(skipped: PeersSourceDeps['skipped']): SourceFailure {
  return new SourceFailure('unavailable', skipped.map(({ message }) => message).join('; '), {
    attempts: skipped.map(({ source, outcome }) => ({ source, outcome, ms: 0 })),
  });
}
