import { type clearedStores, type TextStore, textStoreNames } from '../../../shared/constants/text-stores.ts';
import type { Change, ChangeOf, Changes } from '../../base/changes.ts';
import type { Log } from '../../base/log.ts';
import type { World } from '../../base/world.ts';
import type { NewEvent } from '../events/index.ts';
import type { ContentSelection, ContentStore } from './store.ts';
import type { ForgottenUser, TextsStore } from './texts-store.ts';

/** The most calls that are looked up at a time. */
const lookedUpMax = 500;
/** The most that one write deletes, as calls wait for it. */
const removedAtOnce = 32;

/** Which calls of a workspace lose their texts. */
export interface ClearedCalls extends Omit<ContentSelection, 'requestIds'> {
  /** A query of the calls’ language. */
  q: string | undefined;
  /** Only calls whose records have that user, whatever their content says. */
  isForgotten?: true;
}

export interface Cleared {
  /** Of content, the calls of which this daemon had some. */
  stores: { store: (typeof clearedStores)[number]; deleted: number }[];
  /** Selected calls that run, whose texts are stored when they end. A query selects none. */
  running: number;
}

export interface ClearTextsDeps {
  content: Pick<ContentStore, 'clear' | 'select'>;
  texts: TextsStore;
  /** Finds which of some requests match. Fails with `invalid_request` for a query that cannot be read. */
  matching: (
    workspaceId: string,
    matched: Omit<ClearedCalls, 'workspaceId'>,
  ) => (requestIds: readonly string[]) => Promise<ReadonlySet<string>>;
  changes: Changes;
  /** Tells readers of a stored event. */
  announce: (event: NewEvent) => void;
  /** Stores what is in memory of rejected calls of a workspace. */
  recordCounted: (workspaceId: string) => Promise<void>;
  world: Pick<World, 'now' | 'randomBytes'>;
  /** Whether other daemons may keep content of calls of the same database. */
  hasOthers: () => boolean;
  log: Pick<Log, 'warn'>;
}

/** An end user whose name was replaced. */
export interface Forgotten extends ForgottenUser {
  pseudonym: string;
}

/** Deletes what calls asked and were answered, wherever it is kept. */
export class ClearTexts {
  readonly #deps: ClearTextsDeps;
  /** What this daemon announced, as it has deleted its own content by then. */
  readonly #announced = new WeakSet<Change>();

  constructor(deps: ClearTextsDeps) {
    this.#deps = deps;
    deps.changes.subscribe('content', (change) => this.#follow(change));
  }

  /** In one of the places, or in all. */
  async clear(calls: ClearedCalls, only?: Cleared['stores'][number]['store']): Promise<Cleared> {
    // Counted first: a call that ends meanwhile is counted, deleted, or both.
    const { q, workspaceId } = calls;
    const running = q === undefined ? await this.#deps.texts.running(workspaceId, calls) : 0;
    const stores = await this.#clearHere(calls, only);
    if (only === undefined || only === 'content') await this.#announce({ topic: 'content', ...calls });
    return { stores, running };
  }

  /** Deletes the texts of a person, and has a pseudonym stand for the name in all that stays. */
  async forget(workspaceId: string, user: string): Promise<Cleared & { forgotten: Forgotten }> {
    const { texts, world, announce, recordCounted } = this.#deps;
    const calls = { workspaceId, user, keyId: undefined, before: undefined, q: undefined };
    const running = await texts.running(workspaceId, calls);
    const stores = await this.#clearHere(calls);
    await recordCounted(workspaceId);
    const pseudonym = `forgotten-${Buffer.from(world.randomBytes(8)).toString('hex')}`;
    const event = { type: 'user.forgotten', workspaceId, at: world.now(), data: { user: pseudonym } };
    const renamed = await texts.forgetUser({ workspaceId, user, pseudonym, event });
    announce(event);
    await this.#announce({ topic: 'content', ...calls, user: pseudonym, isForgotten: true });
    return { stores, running, forgotten: { pseudonym, ...renamed } };
  }

  async #clearHere(calls: ClearedCalls, only?: string): Promise<Cleared['stores']> {
    const isWanted = (store: string) => only === undefined || only === store;
    const matching = this.#matching(calls);
    const stores: Cleared['stores'] = [];
    if (isWanted('content')) stores.push({ store: 'content', deleted: await this.#clearContent(calls) });
    for (const store of textStoreNames.filter(isWanted))
      stores.push({ store, deleted: await this.#clearStore(store, calls.workspaceId, matching) });
    return stores;
  }

  async #announce(change: Change): Promise<void> {
    if (!this.#deps.hasOthers()) return;
    this.#announced.add(change);
    await this.#deps.changes.announce([change]);
  }

  async #clearStore(
    store: TextStore,
    workspaceId: string,
    matching: ReturnType<ClearTextsDeps['matching']>,
  ): Promise<number> {
    const { texts } = this.#deps;
    let deleted = 0;
    for (let after = ''; ; ) {
      const page = await texts.page(store, { workspaceId, after, limit: lookedUpMax });
      const last = page.at(-1);
      if (last === undefined) return deleted;
      after = last.id;
      const matches = await matching(page.map(({ requestId }) => requestId));
      const ids = page.filter(({ requestId }) => matches.has(requestId)).map(({ id }) => id);
      for (let at = 0; at < ids.length; at += removedAtOnce)
        deleted += await texts.remove(store, workspaceId, ids.slice(at, at + removedAtOnce));
    }
  }

  async #clearContent({ q, isForgotten, ...selection }: ClearedCalls): Promise<number> {
    const { content } = this.#deps;
    if (q === undefined && !isForgotten) return await content.clear(selection);
    const matching = this.#matching({ q, ...selection });
    const kept = isForgotten ? { ...selection, user: undefined } : selection;
    const found = await content.select(kept);
    const requestIds = new Set<string>();
    for (let at = 0; at < found.length; at += lookedUpMax)
      for (const id of await matching(found.slice(at, at + lookedUpMax))) requestIds.add(id);
    return await content.clear({ ...kept, requestIds });
  }

  #matching({ workspaceId, ...matched }: ClearedCalls) {
    return this.#deps.matching(workspaceId, matched);
  }

  /** Deletes the content at this daemon of what another one cleared. No other change waits for it. */
  #follow(change: ChangeOf<'content'>): void {
    if (this.#announced.has(change)) return;
    const { topic: _topic, ...calls } = change;
    this.#clearContent(calls).catch((error: unknown) =>
      this.#deps.log.warn({ err: error }, 'content that another daemon cleared could not be deleted here'),
    );
  }
}
