import type { MakeId } from '../../shared/ids.ts';
import { createAgents, type SignUpSettings } from '../features/agents/index.ts';
import type { EventFeed } from '../features/events/index.ts';
import {
  createActiveKeys,
  createAuthenticator,
  createKeySettings,
  createKeys,
  sha256,
} from '../features/keys/index.ts';
import {
  type AdmissionDeps,
  AgentAllowances,
  capWarningData,
  createAdmission,
  createCredit,
  type FreeTierSettings,
  type UsageReader,
} from '../features/metering/index.ts';
import type { Workspaces } from '../features/workspaces/index.ts';
import type { Storage } from '../storage/storage.ts';
import type { World } from '../world.ts';

interface AccountsDeps {
  storage: Storage;
  world: World;
  makeId: MakeId;
  settings: { allPrepaid: boolean; freeTier: FreeTierSettings; signUps: SignUpSettings };
  /** 32 bytes. */
  dataKey: Uint8Array;
}

interface AccountsFeatures {
  events: EventFeed;
  usage: UsageReader;
  workspaces: Workspaces;
  /** Known after the bootstrap. */
  hostWorkspace: { id: string | undefined };
}

/** Authentication, keys, limits and billing. */
export function createAccounts(deps: AccountsDeps, features: AccountsFeatures) {
  const { storage, world, makeId } = deps;
  const { events, usage, workspaces, hostWorkspace } = features;
  const now = () => world.now();
  const inUse = createActiveKeys({ store: storage.keys, now });
  const authentication = createAuthenticator({
    keysStore: storage.keys,
    workspacesStore: storage.workspaces,
    tokensStore: storage.tokens,
    agentsStore: storage.agents,
    digest: sha256,
    now,
    activeKeys: inUse,
    noteTime: storage.noteTime,
    onExpired: ({ keyId, workspaceId }) => {
      const data = { key: keyId, param: 'limits.expires_at' };
      events.publish({ type: 'limit.reached', workspaceId, data });
    },
  });
  const billing = createBilling(deps, { events, hostWorkspace });
  const { admission, credit } = billing;
  const keys = createKeys({
    store: storage.keys,
    logins: storage.workspaces,
    workspaces,
    usage,
    balanceOf: credit.balanceOf,
    events,
    authenticator: authentication,
    digest: sha256,
    makeId,
    randomBytes: (count: number) => world.randomBytes(count),
    now,
  });
  const settings = createKeySettings({
    store: storage.keys,
    workspaces,
    admission,
    activeKeys: inUse,
    lastUse: authentication.lastUse,
    now,
  });
  const agents = createAgents({
    store: storage.agents,
    settings: deps.settings.signUps,
    usageOf: (agentId) => billing.allowances.use(agentId),
    balanceOf: admission.balanceOf,
    digest: sha256,
    dataKey: deps.dataKey,
    makeId,
    randomBytes: (count) => world.randomBytes(count),
    now,
  });
  return { ...billing, agents, authentication, keys, keySettings: settings };
}

interface BillingDeps {
  storage: Storage;
  world: World;
  makeId: MakeId;
  /** Whether the host's own workspace is prepaid, too. */
  settings: { allPrepaid: boolean; freeTier: FreeTierSettings };
}

/** All workspaces are prepaid, except the host's own unless configured. */
function createBilling(
  deps: BillingDeps,
  { events, hostWorkspace }: Pick<AccountsFeatures, 'events' | 'hostWorkspace'>,
) {
  const { storage, world, makeId } = deps;
  const isPrepaid = (workspaceId: string) => deps.settings.allPrepaid || workspaceId !== hostWorkspace.id;
  const limits: AdmissionDeps['limits'] = {
    ledger: storage.ledger,
    clock: world,
    onCapWarning: (warning) => {
      const { workspaceId, at } = warning;
      void events.record({ type: 'limit.warning', workspaceId, at, data: capWarningData(warning) });
    },
  };
  const allowances = new AgentAllowances({
    store: storage.agents,
    settings: deps.settings.freeTier,
    now: () => world.now(),
  });
  const admission = createAdmission({
    store: storage.metering,
    state: storage.state,
    limits,
    agents: allowances,
  });
  const credit = createCredit({
    store: storage.ledger,
    admission,
    workspaceId: async (caller, reference) =>
      reference === 'me' ? caller.workspaceId : (await storage.workspaces.workspace(reference))?.id,
    isPrepaid,
    makeId,
    now: () => world.now(),
  });
  return { admission, allowances, credit, isPrepaid };
}
