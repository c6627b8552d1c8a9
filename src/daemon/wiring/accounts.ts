import type { OnFailure } from '../base/feature.ts';
import { agentHandlers, agentKeyView, createAgents } from '../features/agents/index.ts';
import type { EventFeed } from '../features/events/index.ts';
import {
  createActiveKeys,
  createAuthenticator,
  createKeyRotation,
  createKeySettings,
  createKeys,
  keyHandlers,
  publishExpiry,
  recordPreviousUse,
  sha256,
} from '../features/keys/index.ts';
import {
  type Admission,
  AgentAllowances,
  type BudgetNews,
  BudgetRules,
  type CapWarning,
  capWarningData,
  createAdmission,
  createCredit,
  createUsageReader,
  creditHandlers,
  recoverHolds,
} from '../features/metering/index.ts';
import { bootstrap, peopleHandlers, type Workspaces } from '../features/workspaces/index.ts';
import { createRateLimit } from '../http/protection/rate-limit.ts';
import type { CallAppDeps } from './app-deps.ts';

type RecordsEvents = Pick<EventFeed, 'announce' | 'publish' | 'record'>;

interface AccountsFeatures {
  events: RecordsEvents;
  workspaces: Workspaces;
}

/** The workspace of the person who runs the daemon. */
interface HostWorkspace {
  /** Known after the bootstrap. */
  id: string | undefined;
  /** Milliseconds since 1970. */
  createdAt: number;
}

/** Wrong login codes per address; a code has 50 random bits. */
const loginCodeRate = { burst: 10, perSecond: 0.2 };

export type Accounts = ReturnType<typeof createAccounts>;

/** Authentication, people, keys, limits and billing. */
export function createAccounts(deps: CallAppDeps, { events, workspaces }: AccountsFeatures) {
  const { storage, world, makeId } = deps;
  const { passed } = storage;
  const now = () => world.now();
  const randomBytes = (count: number) => world.randomBytes(count);
  const hostWorkspace: HostWorkspace = { id: undefined, createdAt: now() };
  const usage = createUsageReader({ store: storage.metering, now });
  const activeKeys = createActiveKeys({ store: storage.keys, changes: storage.changes, passed });
  const authentication = createAuthenticator({
    keysStore: storage.keys,
    workspacesStore: storage.workspaces,
    tokensStore: storage.tokens,
    agentsStore: storage.agents,
    changes: storage.changes,
    digest: sha256,
    now,
    activeKeys,
    passed,
    onExpired: (key) => publishExpiry(events, key),
    onPreviousUsed: (secret) => recordPreviousUse(events, secret),
  });
  // What was used until then did not expire.
  passed.beforeExpiring(authentication.flush);
  const { admission, budgets, credit, isPrepaid } = createBilling(deps, events, hostWorkspace);
  const ofKeys = {
    store: storage.keys,
    logins: storage.workspaces,
    workspaces,
    usage,
    balanceOf: credit.balanceOf,
    events,
    authenticator: authentication,
    digest: sha256,
    makeId,
    randomBytes,
    now,
  };
  const keys = createKeys(ofKeys);
  const settings = createKeySettings({
    store: storage.keys,
    workspaces,
    admission,
    lastUse: authentication.lastUse,
    lastPreviousUse: authentication.lastPreviousUse,
    now,
  });
  const agents = createAgents({
    store: storage.agents,
    settings: deps.settings.signUps,
    usageOf: admission.agentUse,
    balanceOf: admission.balanceOf,
    digest: sha256,
    dataKey: deps.dataKey,
    makeId,
    randomBytes,
    now,
    passed: passed.at,
  });
  const ofAgents = { agents, freeTier: deps.settings.freeTier, spendOf: usage.spendOf };
  return {
    admission,
    authentication,
    budgets,
    hostWorkspace,
    isPrepaid,
    usage,
    handlers: [
      ...keyHandlers({
        keys,
        rotation: createKeyRotation(ofKeys),
        settings,
        agentView: agentKeyView(ofAgents),
        now,
      }),
      ...agentHandlers(ofAgents),
      ...creditHandlers(credit),
      ...peopleHandlers({
        store: storage.people,
        workspacesStore: storage.workspaces,
        workspaces,
        lastUse: authentication.lastLoginUse,
        guesses: createRateLimit({
          ...loginCodeRate,
          elapsed: () => world.elapsed(),
          sharedBy: storage.members.count,
        }),
        digest: sha256,
        events,
        log: deps.log,
        makeId,
        randomBytes,
        now,
        passed: passed.at,
      }),
    ],
    jobs: [authentication.keepExpiring, authentication.keepFlushed].map(
      (keep) => (signal: AbortSignal, onFailure: OnFailure) => keep(world, signal, onFailure),
    ),
    /** Creates the owner, workspace and default key on the first start; returns the secrets to write down. */
    async bootstrap(files: Parameters<typeof bootstrap>[1], loginName: string) {
      const first = { store: storage.workspaces, keys, digest: sha256, makeId, randomBytes, now, loginName };
      const made = await bootstrap(first, files);
      hostWorkspace.id = made.workspaceId;
      hostWorkspace.createdAt = made.workspaceCreatedAt;
      return made;
    },
    /** Settles the calls that an earlier daemon left behind. */
    takeOver: (daemon: number) =>
      recoverHolds({ store: storage.metering, now, marginPpm: deps.settings.marginPpm, daemon }),
  };
}

/** All workspaces are prepaid, except the host's own unless configured. */
function createBilling(deps: CallAppDeps, events: RecordsEvents, hostWorkspace: HostWorkspace) {
  const { storage, world, makeId } = deps;
  const isPrepaid = (workspaceId: string) => deps.settings.allPrepaid || workspaceId !== hostWorkspace.id;
  const budgets = {
    rules: new BudgetRules(),
    /** Set by the feature that stores the events of budgets. */
    onNews: (_news: BudgetNews): void => {},
  };
  const limits = {
    rules: budgets.rules,
    onNews: (news: BudgetNews) => budgets.onNews(news),
    onCapWarning: (warning: CapWarning) => {
      const { workspaceId, at } = warning;
      void events.record({ type: 'limit.warning', workspaceId, at, data: capWarningData(warning) });
    },
  };
  const admission = admissionOf(deps, limits);
  const credit = createCredit({
    store: storage.ledger,
    admission,
    workspaceId: async (caller, reference) =>
      reference === 'me' ? caller.workspaceId : (await storage.workspaces.workspace(reference))?.id,
    isPrepaid,
    makeId,
    now: () => world.now(),
  });
  return { admission, budgets, credit, isPrepaid };
}

interface Limits {
  rules: BudgetRules;
  onNews: (news: BudgetNews) => void;
  onCapWarning: (warning: CapWarning) => void;
}

function admissionOf({ storage, settings, world }: CallAppDeps, limits: Limits): Admission {
  return createAdmission({
    ...limits,
    store: storage.metering,
    ledger: storage.ledger,
    state: storage.state,
    clock: world,
    agents: new AgentAllowances({
      store: storage.metering,
      agents: storage.agents,
      settings: settings.freeTier,
      now: () => world.now(),
    }),
  });
}
