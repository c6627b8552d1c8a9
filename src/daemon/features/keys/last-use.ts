import { repeatedly, type World } from '../../base/world.ts';
import type { TokensStore } from '../tokens/index.ts';
import type { WorkspacesStore } from '../workspaces/index.ts';
import type { KeysStore, PreviousSecret } from './store.ts';

const flushEveryMs = 30_000;

/** Collects times of last use by id in memory, since a write per call would cost more than the call. */
function lastUseLog(write: (uses: { id: string; at: number }[]) => Promise<void>) {
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
    flush,
    keepFlushed: (world: Pick<World, 'sleep'>, signal: AbortSignal, onFailure: (error: unknown) => void) =>
      repeatedly(world, { everyMs: flushEveryMs, signal, onFailure }, flush).then(() =>
        flush().catch(onFailure),
      ),
  };
}

export interface LastUseDeps {
  keysStore: Pick<KeysStore, 'touch' | 'touchPrevious'>;
  workspacesStore: Pick<WorkspacesStore, 'touchLogins'>;
  tokensStore?: Pick<TokensStore, 'touch'>;
  onPreviousUsed?: (secret: PreviousSecret) => void;
}

/** When keys, logins and tokens were last used. */
export function createCredentialUses({
  keysStore,
  workspacesStore,
  tokensStore,
  onPreviousUsed,
}: LastUseDeps) {
  const keys = lastUseLog((uses) => keysStore.touch(uses.map(({ id, at }) => ({ keyId: id, at }))));
  const logins = lastUseLog((uses) => workspacesStore.touchLogins(uses));
  const tokens = lastUseLog(async (uses) => tokensStore?.touch(uses));
  const previous = lastUseLog(async (uses) => {
    const first = await keysStore.touchPrevious(uses.map(({ id, at }) => ({ digest: id, at })));
    for (const secret of first) onPreviousUsed?.(secret);
  });
  const logs = [keys, logins, tokens, previous];
  return {
    note: { key: keys.note, login: logins.note, token: tokens.note, previous: previous.note },
    lastKey: keys.last,
    lastLogin: logins.last,
    lastToken: tokens.last,
    /** Of a secret that was replaced, by its digest. */
    lastPrevious: previous.last,
    async flush() {
      await Promise.all(logs.map((log) => log.flush()));
    },
    async keepFlushed(world: Pick<World, 'sleep'>, signal: AbortSignal, onFailure: (error: unknown) => void) {
      await Promise.all(logs.map((log) => log.keepFlushed(world, signal, onFailure)));
    },
  };
}
