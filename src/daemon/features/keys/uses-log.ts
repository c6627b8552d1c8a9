import { repeatedly, type World } from '../../world.ts';
import type { TokensStore } from '../tokens/index.ts';
import type { KeysStore } from './keys-store.ts';

const flushEveryMs = 30_000;

/** Times of last use by id, gathered in memory: a write at each call would cost more than the call. */
function usesLog(write: (uses: { id: string; at: number }[]) => Promise<void>) {
  let uses = new Map<string, number>();
  const flush = async (): Promise<void> => {
    if (uses.size === 0) return;
    const flushed = uses;
    uses = new Map();
    try {
      await write([...flushed].map(([id, at]) => ({ id, at })));
    } catch (error) {
      uses = new Map([...flushed, ...uses]);
      throw error;
    }
  };
  return {
    note: (id: string, at: number): void => {
      uses.set(id, at);
    },
    last: (id: string): number | undefined => uses.get(id),
    keepFlushed: (world: Pick<World, 'sleep'>, signal: AbortSignal, onFailure: (error: unknown) => void) =>
      repeatedly(world, { everyMs: flushEveryMs, signal, onFailure }, flush).then(() =>
        flush().catch(onFailure),
      ),
  };
}

export interface UsesNeeds {
  keysStore: Pick<KeysStore, 'touch'>;
  tokensStore?: Pick<TokensStore, 'touch'>;
}

/** When keys and tokens were last used. */
export function credentialUses({ keysStore, tokensStore }: UsesNeeds) {
  const keys = usesLog((uses) => keysStore.touch(uses.map(({ id, at }) => ({ keyId: id, at }))));
  const tokens = usesLog(async (uses) => tokensStore?.touch(uses));
  return {
    note: { key: keys.note, token: tokens.note },
    lastKey: keys.last,
    lastToken: tokens.last,
    async keepFlushed(world: Pick<World, 'sleep'>, signal: AbortSignal, onFailure: (error: unknown) => void) {
      await Promise.all([keys, tokens].map((log) => log.keepFlushed(world, signal, onFailure)));
    },
  };
}
