import { Mutex } from '../../../shared/async/mutex.ts';
import { parseBudgetFilter } from '../../../shared/calls/budget-filter.ts';
import { formatQuery, isQueryFault } from '../../../shared/calls/query.ts';
import { tagNamePattern, tagValuePattern } from '../../../shared/constants/call-labels.ts';
import { type BudgetSettings, budgetsMax, defaultThresholds } from '../../../shared/contract/budgets.ts';
import { oneLinePattern } from '../../../shared/contract/vocabulary.ts';
import { ApiError } from '../../../shared/errors.ts';
import { inputFault, wellFormed } from '../../../shared/faults/input-faults.ts';
import { notFound } from '../../../shared/faults/not-found.ts';
import { parseUsd } from '../../../shared/money/money.ts';
import { calendarIn } from '../../../shared/money/spend-calendars.ts';
import { startOfPeriod } from '../../../shared/money/spend-periods.ts';
import { RecentMap } from '../../../shared/recent-map.ts';
import type { Changes } from '../../base/changes.ts';
import type { KeyOrLogin, LoginCaller } from '../../base/handler.ts';
import { repeatedly, type World } from '../../base/world.ts';
import type { EventFeed } from '../events/index.ts';
import {
  type BudgetNews,
  type BudgetRule,
  type BudgetRules,
  type BudgetScope,
  type LedgerStore,
  marksOf,
} from '../metering/index.ts';
import { managedWorkspace, type Workspaces } from '../workspaces/index.ts';
import { budgetEvent, refusedPercent } from './budget-events.ts';
import type { BudgetRecord, BudgetsStore, Firing } from './store.ts';

/** How often thresholds are looked for whose events could not be written. */
const checkEveryMs = 5000;
/** Characters of what a budget counts, unless it is a filter. */
const valueMax = 128;
/** Budgets whose spending is read in one go; other reads run in between. */
const readAtOnce = 50;
/** Firings that are known to be recorded. */
const knownMax = 100_000;

export interface BudgetsDeps {
  store: BudgetsStore;
  changes: Changes;
  rules: BudgetRules;
  ledger: Pick<LedgerStore, 'subjectUses'>;
  workspaces: Pick<Workspaces, 'membership'>;
  /** Whether a workspace has a key with this id. */
  hasKey(workspaceId: string, keyId: string): Promise<boolean>;
  /** The id of the model that a name stands for; undefined if there is none, or there are several. */
  modelNamed(name: string): Promise<string | undefined>;
  /** Whether calls can be sent to a provider with this name. */
  hasProvider(name: string): boolean;
  events: Pick<EventFeed, 'announce'>;
  world: World;
}

/** What a budget's calls spent in the current period, and what running ones hold. */
export interface BudgetUse {
  spent: number;
  held: number;
}

export interface UsedBudget {
  record: BudgetRecord;
  use: BudgetUse;
}

/** The budgets of workspaces: managed by owners and admins, enforced by the admission, with events at their thresholds. */
export class SpendingBudgets {
  readonly #deps: BudgetsDeps;
  /** A budget that was read before another change must not undo it. */
  readonly #reads = new Mutex();
  readonly #known = new RecentMap<string, true>(knownMax);
  /** Whether a threshold may have been reached whose event is not stored. */
  #isUnsure = true;

  constructor(deps: BudgetsDeps) {
    this.#deps = deps;
    const { store, rules } = deps;
    deps.changes.subscribe('budget', (key) =>
      this.#reads.run(async () => {
        const record = await store.byId(key.workspaceId, key.id);
        if (record) rules.put(record);
        else rules.remove(key);
      }),
    );
  }

  /** Loads the budgets; to be awaited before the first call. */
  async load(): Promise<void> {
    for (const record of await this.#deps.store.all()) this.#deps.rules.put(record);
  }

  /** Looks for thresholds that were reached by calls that the admission does not know of. */
  checkAgain(): void {
    this.#isUnsure = true;
  }

  /** Fails with `permission` unless the caller may manage the workspace's budgets, or if it does not exist. */
  permit(caller: LoginCaller, workspace: string): Promise<string> {
    return managedWorkspace(this.#deps.workspaces, { caller, workspace, action: 'manage its budgets' });
  }

  /** Fails with `not_found` if the caller is not a member of such a workspace. */
  async list(caller: KeyOrLogin, workspace: string): Promise<UsedBudget[]> {
    const records = await this.#deps.store.list(await this.#workspaceOf(caller, workspace));
    return await this.#used(records);
  }

  async get(caller: KeyOrLogin, workspace: string, id: string): Promise<UsedBudget> {
    const record = await this.#deps.store.byId(await this.#workspaceOf(caller, workspace), id);
    if (!record) throw notFound('budget', id);
    return await this.#usedOne(record);
  }

  /** Fails with `permission` or `invalid_request`. Thresholds that are already reached fire immediately. */
  async put(
    caller: LoginCaller,
    workspace: string,
    { id, settings }: { id: string; settings: BudgetSettings },
  ): Promise<UsedBudget> {
    const { store, world } = this.#deps;
    const workspaceId = await this.permit(caller, workspace);
    const now = world.now();
    const rule = await this.#ruleOf({ workspaceId, id }, settings);
    const record = await store.put({ ...rule, createdAt: now, updatedAt: now }, { max: budgetsMax });
    if (record === 'full') {
      const message = `A workspace can have at most ${budgetsMax} budgets. Delete one first.`;
      throw new ApiError('invalid_request', { param: 'id', message });
    }
    const used = await this.#usedOne(record);
    await this.#record(firingsOf(record, { spent: used.use.spent, at: now }));
    return await this.#usedOne((await store.byId(workspaceId, id)) ?? record);
  }

  /** Fails with `permission` or `not_found`. */
  async remove(caller: LoginCaller, workspace: string, id: string): Promise<void> {
    const workspaceId = await this.permit(caller, workspace);
    if (!(await this.#deps.store.remove(workspaceId, id))) throw notFound('budget', id);
  }

  /** Records what the admission noticed, in the background. */
  noticed({ rule, spent, at, percents }: BudgetNews): void {
    const period = startOfPeriod(rule.period, at, rule.calendar);
    const reached = percents.length > 0 ? percents : [refusedPercent];
    const firings = reached.map((percent): Firing => {
      const fired = { period, percent, at };
      return {
        workspaceId: rule.workspaceId,
        id: rule.id,
        fired,
        event: budgetEvent(rule, { fired, spent }),
      };
    });
    void this.#record(firings);
  }

  /** Records thresholds that were reached when their event could not be stored, or just before the daemon died; until aborted. */
  keepFiring(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
    return repeatedly(this.#deps.world, { everyMs: checkEveryMs, signal, onFailure }, async () => {
      if (!this.#isUnsure) return;
      this.#isUnsure = false;
      try {
        await this.#fireAll(signal);
      } catch (error) {
        this.#isUnsure = true;
        throw error;
      }
    });
  }

  async #fireAll(signal: AbortSignal): Promise<void> {
    const records = await this.#deps.store.all();
    for (let from = 0; from < records.length && !signal.aborted; from += readAtOnce) {
      const at = this.#deps.world.now();
      for (const { record, use } of await this.#used(records.slice(from, from + readAtOnce))) {
        await this.#record(firingsOf(record, { spent: use.spent, at }));
      }
    }
  }

  /** Never rejects: what could not be written is found again by `keepFiring`. */
  async #record(firings: readonly Firing[]): Promise<void> {
    const { store, events } = this.#deps;
    const unknown = firings.filter((firing) => !this.#known.has(nameOf(firing)));
    const [first] = unknown;
    if (!first) return;
    // Before the write, as calls that a budget refuses may be many.
    for (const firing of unknown) this.#known.set(nameOf(firing), true);
    try {
      const fired = await store.fire(unknown);
      if (fired.length > 0) events.announce(first);
    } catch {
      for (const firing of unknown) this.#known.delete(nameOf(firing));
      this.#isUnsure = true;
    }
  }

  async #workspaceOf(caller: KeyOrLogin, workspace: string): Promise<string> {
    const membership = await this.#deps.workspaces.membership(caller, workspace);
    if (!membership) throw notFound('workspace', workspace);
    return membership.workspaceId;
  }

  async #usedOne(record: BudgetRecord): Promise<UsedBudget> {
    const [used] = await this.#used([record]);
    if (!used) throw new TypeError('a budget has a use');
    return used;
  }

  async #used(records: readonly BudgetRecord[]): Promise<UsedBudget[]> {
    const { ledger, world } = this.#deps;
    const subjects = records.map(({ workspaceId, scope, calendar }) => ({ workspaceId, ...scope, calendar }));
    const uses = subjects.length > 0 ? await ledger.subjectUses(subjects, world.now()) : [];
    return records.map((record, index) => {
      const { spend, held = 0 } = uses[index] ?? {};
      return { record, use: { spent: spend?.[record.period] ?? 0, held } };
    });
  }

  async #ruleOf(
    key: Pick<BudgetRule, 'workspaceId' | 'id'>,
    { usd, period, scope, value, hard, thresholds, ...members }: BudgetSettings,
  ): Promise<BudgetRule> {
    if (scope === 'where' && period === 'none')
      throw inputFault('period', 'must be `day`, `week` or `month` for a filter of calls');
    const dollars = parseUsd(usd);
    if (dollars === undefined) throw inputFault('usd', 'must be dollars, like "2.50", at most 9000000');
    const calendar = calendarIn(members);
    return {
      ...key,
      scope: await this.#scopeOf(key.workspaceId, { kind: scope ?? 'workspace', value: value ?? '' }),
      period,
      ...(calendar && { calendar }),
      amount: dollars,
      isHard: hard ?? false,
      thresholds: [...(thresholds ?? defaultThresholds)].sort((a, b) => a - b),
    };
  }

  async #scopeOf(workspaceId: string, { kind, value }: BudgetScope): Promise<BudgetScope> {
    if (kind === 'workspace') {
      if (value !== '')
        throw inputFault(
          'value',
          'must be left out for the workspace; set `scope` to `key`, `user` or `tag`',
        );
      return { kind, value };
    }
    wellFormed(value, 'value');
    if (kind !== 'where' && value.length > valueMax)
      throw inputFault('value', `must have at most ${valueMax} characters`);
    if (kind === 'key') {
      if (!(await this.#deps.hasKey(workspaceId, value)))
        throw inputFault('value', 'must be the id of a key of the workspace');
    } else if (kind === 'where') {
      return { kind, value: await this.#filterIn(workspaceId, value) };
    } else if (kind === 'model') {
      const id = await this.#deps.modelNamed(value);
      if (id === undefined) throw inputFault('value', 'must be the id of a model, like `openai/gpt-5`');
      return { kind, value: id };
    } else if (kind === 'provider') {
      if (!this.#deps.hasProvider(value))
        throw inputFault('value', 'must be the name of a provider of this daemon');
    } else if (!formOf[kind].test(value)) {
      throw inputFault(
        'value',
        kind === 'tag' ? 'must be a tag like `team=search`' : 'must be one line, as calls name the user',
      );
    }
    return { kind, value };
  }

  /** Fails with `invalid_request` for filters by what is not known before a call is answered, and by keys that do not exist. */
  async #filterIn(workspaceId: string, text: string): Promise<string> {
    const query = parseBudgetFilter(text);
    if (isQueryFault(query)) {
      const { part, message } = query;
      const where = part === text ? '' : `${part}: `;
      throw new ApiError('invalid_request', {
        param: 'value',
        message: `\`value\` must be a filter of calls. ${where}${message}`,
      });
    }
    for (const key of query.terms.filter(({ word }) => word === 'key').flatMap(({ values }) => values)) {
      if (!(await this.#deps.hasKey(workspaceId, key)))
        throw inputFault('value', `must name keys of the workspace by their ids, not "${key}"`);
    }
    return formatQuery(query);
  }
}

const formOf = {
  user: new RegExp(oneLinePattern, 'u'),
  tag: new RegExp(`${tagNamePattern.slice(0, -1)}=${tagValuePattern.slice(1)}`, 'u'),
};

/** The thresholds of a budget that its spending reached. */
function firingsOf(record: BudgetRecord, { spent, at }: { spent: number; at: number }): Firing[] {
  const { workspaceId, id, fired: before } = record;
  const period = startOfPeriod(record.period, at, record.calendar);
  return marksOf(record)
    .filter(({ mark }) => spent >= mark)
    .filter(({ percent }) => !before.some((each) => each.period === period && each.percent === percent))
    .map(({ percent }) => {
      const fired = { period, percent, at };
      return { workspaceId, id, fired, event: budgetEvent(record, { fired, spent }) };
    });
}

function nameOf({ workspaceId, id, fired: { period, percent } }: Firing): string {
  return `${workspaceId} ${id} ${period} ${percent}`;
}
