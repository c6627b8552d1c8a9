import { isObject } from '../../../../../shared/faults/invalid-request.ts';
import type { ResponsesStore, StoredTurn } from '../../stored/responses-store.ts';

/** Limits for one socket and for all sockets together, in characters of JSON. */
const charactersMax = 16 * 1024 * 1024;
const charactersTotalMax = 256 * 1024 * 1024;

/** Shared by all sockets, in characters. */
export interface MemoryLimit {
  left: number;
}

export function memoryLimit(): MemoryLimit {
  return { left: charactersTotalMax };
}

interface Conversation {
  workspaceId: string;
  /** Id of the latest response. */
  id: string;
  /** The stored response that the first turn continues. */
  base: string | null;
  /** Oldest first. */
  turns: StoredTurn[];
  characters: number;
}

/**
 * Keeps the conversation of a socket's latest response in memory, for responses that are not stored; everything else is
 * read from the store. A conversation that is too long is not kept, so it cannot be continued.
 */
export class SocketMemory implements Pick<ResponsesStore, 'chain' | 'items'> {
  readonly #store: Pick<ResponsesStore, 'chain' | 'items'>;
  readonly #limit: MemoryLimit;
  #kept: Conversation | undefined;
  #isClosed = false;

  constructor(store: Pick<ResponsesStore, 'chain' | 'items'>, limit: MemoryLimit) {
    this.#store = store;
    this.#limit = limit;
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

  /** Keeps a finished turn. A stored turn is kept only if it continues an unstored one. */
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
    if (characters > charactersMax || characters > this.#limit.left) return;
    this.#limit.left -= characters;
    this.#kept = {
      workspaceId,
      id: turn.id,
      base: earlier ? earlier.base : previousId,
      turns: [...(earlier?.turns ?? []), turn],
      characters,
    };
  }

  /** Drops the conversation after a failure to continue it. */
  forget(id: string | null): void {
    if (this.#kept?.id === id) this.#drop();
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  #drop(): void {
    this.#limit.left += this.#kept?.characters ?? 0;
    this.#kept = undefined;
  }
}
