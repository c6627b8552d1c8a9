import { timeLimit, type World } from '../../base/world.ts';
import { type AskPeerDeps, faultOf } from './ask-peer.ts';
import type { PeerClient } from './client.ts';
import type { PeerState } from './peer-state.ts';

const cardTimeoutMs = 5000;

interface ReadCardDeps extends Pick<AskPeerDeps, 'addressOf'> {
  client: Pick<PeerClient, 'card'>;
  world: Pick<World, 'now' | 'sleep'>;
  /** When to read the card again, in milliseconds from now. */
  nextCheckMs: (isBusy: boolean) => number;
  /** Called when the failure benches the peer, with the duration in milliseconds. */
  onBenched: (ms: number, reason: string) => void;
}

/** Reads the card of a peer; resolves to the reason if that fails. A call during another read waits for that one's result. */
export async function readCard(
  { client, addressOf, world, nextCheckMs, onBenched }: ReadCardDeps,
  peer: PeerState,
  signal?: AbortSignal,
): Promise<{ message: string } | undefined> {
  if (peer.reading) {
    await peer.reading;
    return peer.card ? undefined : { message: 'it could not be reached' };
  }
  const done = Promise.withResolvers<void>();
  peer.reading = done.promise;
  const late = timeLimit(world, cardTimeoutMs);
  try {
    const both = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
    const card = await client.card(await addressOf(peer), both);
    const now = world.now();
    peer.cardRead(card, now);
    peer.nextCheckAt = now + nextCheckMs(card.slotsFree === 0);
    return undefined;
  } catch (error) {
    if (signal?.aborted) return { message: 'the check was canceled' };
    const now = world.now();
    const fault = late.signal.aborted
      ? { outcome: 'timeout', message: 'it took too long', code: null, bench: 'after-several' as const }
      : faultOf(error);
    peer.nextCheckAt = now + nextCheckMs(false);
    const benchedMs = peer.cardFailed(fault, now);
    if (benchedMs !== undefined) onBenched(benchedMs, fault.outcome);
    return fault;
  } finally {
    late.clear();
    peer.reading = undefined;
    done.resolve();
  }
}
