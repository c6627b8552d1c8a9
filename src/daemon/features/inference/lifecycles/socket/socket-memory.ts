import { isObject } from '../../fault.ts';
import type { ResponsesStore, StoredTurn } from '../../stored/responses-store.ts';

/** What one socket may keep, and all of them together, in characters of JSON. */
const charactersMax = 16 * 1024 * 1024;
const charactersOfAllMax = 256 * 1024 * 1024;

/** What all sockets share of the memory. */
export interface MemoryBudget {
  left: number;
}

export function memoryBudget(): MemoryBudget {
  return { left: charactersOfAllMax };
}

interface Kept {
  workspaceId: string;
  /** Of the latest response. */
  id: string;
  /** The stored response that the first of the turns continues. */
  base: string | null;
  /** Oldest first. */
  turns: StoredTurn[];
  characters: number;
}

/**
 * The context of a socket's latest response, for responses that are stored nowhere; all else is found in the store. A
 * context that is too long is not kept, and what continues it is not found.
 */
export class SocketMemory implements Pick<ResponsesStore, 'chain' | 'items'> {
  readonly #store: Pick<ResponsesStore, 'chain' | 'items'>;
  readonly #budget: MemoryBudget;
  #kept: Kept | undefined;
  #isClosed = false;

  constructor(store: Pick<ResponsesStore, 'chain' | 'items'>, budget: MemoryBudget) {
    this.#store = store;
    this.#budget = budget;
  }

  async chain(
    workspaceId: string,
    id: string,
    options: { at: number; bytesMax: number },
  ): Promise<StoredTurn[] | 'too-long' | undefined> {
    const kept = this.#kept;
    if (kept?.id !== id || kept.workspaceId !== workspaceId)
      return this.#store.chain(workspaceId, id, options);
    if (kept.base === null) return kept.turns;
    const bytesMax = options.bytesMax - kept.characters;
    const before = await this.#store.chain(workspaceId, kept.base, { ...options, bytesMax });
    return Array.isArray(before) ? [...before, ...kept.turns] : before;
  }

  async items(
    workspaceId: string,
    ids: Iterable<string>,
    options: { at: number; bytesMax: number },
  ): Promise<Map<string, string> | 'too-long'> {
    const wanted = new Set(ids);
    const stored = await this.#store.items(workspaceId, wanted, options);
    if (stored === 'too-long' || this.#kept?.workspaceId !== workspaceId) return stored;
    const found = new Map(stored);
    for (const { input, output } of this.#kept.turns) {
      for (const item of [...JSON.parse(input), ...JSON.parse(output)]) {
        if (isObject(item) && typeof item.id === 'string' && wanted.has(item.id))
          found.set(item.id, JSON.stringify(item));
      }
    }
    return found;
  }

  /** Keeps a turn that came to its end. One that is stored is kept only where the store lacks what it continues. */
  remember(
    turn: StoredTurn,
    {
      workspaceId,
      previousId,
      isStored,
    }: { workspaceId: string; previousId: string | null; isStored: boolean },
  ): void {
    const earlier = previousId !== null && this.#kept?.id === previousId ? this.#kept : undefined;
    this.#drop();
    if (this.#isClosed || (isStored && !earlier)) return;
    const characters = (earlier?.characters ?? 0) + turn.input.length + turn.output.length;
    if (characters > charactersMax || characters > this.#budget.left) return;
    this.#budget.left -= characters;
    this.#kept = {
      workspaceId,
      id: turn.id,
      base: earlier ? earlier.base : previousId,
      turns: [...(earlier?.turns ?? []), turn],
      characters,
    };
  }

  /** What failed to be continued is not continued again. */
  forget(id: string | null): void {
    if (this.#kept?.id === id) this.#drop();
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  #drop(): void {
    this.#budget.left += this.#kept?.characters ?? 0;
    this.#kept = undefined;
  }
}
