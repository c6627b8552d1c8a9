import { ApiError } from '../../../shared/errors.ts';
import { timeLimit, type World } from '../../base/world.ts';
import { BackendFailure, type LightningBackend } from '../lightning/index.ts';
import { toApiError } from './backend-error.ts';
import type { WalletStore } from './store.ts';

export interface TrustedNodeDeps {
  store: Pick<WalletStore, 'trustedNode' | 'trustNode'>;
  world: Pick<World, 'now' | 'elapsed' | 'sleep'>;
}

/** How long look-ups, which are many, rely on the last time that the node identified itself. */
const recentMs = 5_000;

/**
 * A back end that is only used while it is the same node: the first one that identifies itself is trusted. Another node at
 * the same address has other money and does not know of earlier payments. Its operations fail with a BackendFailure of
 * kind `other-node`.
 */
export function withTrustedNode(
  backend: LightningBackend,
  { store, world }: TrustedNodeDeps,
): LightningBackend {
  const { name, network } = backend;
  let knownAt = Number.NEGATIVE_INFINITY;
  const requireTrusted = (nodeId: string | null, trusted: string | undefined): void => {
    if (nodeId === null || trusted === undefined || nodeId === trusted) return;
    throw new BackendFailure(
      'other-node',
      `Another node answers: ${nodeId} instead of ${trusted}, which holds the money of the wallets. If you replaced the node on purpose: gateway wallet trust-node ${nodeId}`,
    );
  };
  const identify = async (nodeId: string | null): Promise<void> => {
    const trusted = await store.trustedNode({ backend: name, network });
    requireTrusted(nodeId, trusted);
    if (nodeId !== null && trusted === undefined) {
      await store.trustNode({ backend: name, network, nodeId, replaces: undefined, at: world.now() });
      requireTrusted(nodeId, await store.trustedNode({ backend: name, network }));
    }
    knownAt = world.elapsed();
  };
  const ask = async (signal: AbortSignal): Promise<void> => await identify(await backend.nodeId(signal));
  const askUnlessRecent = async (signal: AbortSignal): Promise<void> => {
    if (world.elapsed() - knownAt > recentMs) await ask(signal);
  };
  const { cancelInvoice, revealPreimage, history } = backend;
  return {
    ...backend,
    async check(signal) {
      const info = await backend.check(signal);
      await identify(info.nodeId);
      return info;
    },
    async prepare(signal) {
      await ask(signal);
      await backend.prepare(signal);
    },
    async createInvoice(request) {
      const limit = timeLimit(world, identifyTimeoutMs);
      await ask(limit.signal).finally(limit.clear);
      return await backend.createInvoice(request);
    },
    async lookUpPayment(paymentHash, signal) {
      await askUnlessRecent(signal);
      return await backend.lookUpPayment(paymentHash, signal);
    },
    async lookUpInvoice(paymentHash, signal) {
      await askUnlessRecent(signal);
      return await backend.lookUpInvoice(paymentHash, signal);
    },
    ...(cancelInvoice && {
      async cancelInvoice(paymentHash: string, signal: AbortSignal) {
        await ask(signal);
        return await cancelInvoice(paymentHash, signal);
      },
    }),
    ...(history && {
      async history(since: number, signal: AbortSignal) {
        await ask(signal);
        return await history(since, signal);
      },
    }),
    ...(revealPreimage && {
      async revealPreimage(paymentHash: string, signal: AbortSignal) {
        await ask(signal);
        return await revealPreimage(paymentHash, signal);
      },
    }),
  };
}

const identifyTimeoutMs = 10_000;

/** Trusts the node that answers now. Fails with `conflict` if it is not the one of the id. */
export async function trustNode(
  backend: LightningBackend,
  { store, world }: TrustedNodeDeps,
  { nodeId, signal }: { nodeId: string; signal: AbortSignal },
): Promise<void> {
  const book = { backend: backend.name, network: backend.network };
  const answering = await backend.nodeId(signal).catch((error: unknown) => {
    throw toApiError(error);
  });
  if (answering !== nodeId) {
    const which = answering === null ? 'The back end does not report its node' : `The node is ${answering}`;
    throw new ApiError('conflict', { param: 'node_id', message: `${which}.` });
  }
  const replaces = await store.trustedNode(book);
  if (replaces === nodeId) return;
  if (await store.trustNode({ ...book, nodeId, replaces, at: world.now() })) return;
  throw new ApiError('conflict', { message: 'Another node was trusted meanwhile.' });
}
