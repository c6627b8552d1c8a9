import type { MakeId } from '../../shared/ids.ts';
import type { EventFeed } from '../features/events/index.ts';
import { authenticator, keyOwnership, liveKeys, keys as makeKeys, sha256 } from '../features/keys/index.ts';
import type { UsageReader } from '../features/metering/index.ts';
import type { Workspaces } from '../features/workspaces/index.ts';
import type { Storage } from '../storage/storage.ts';
import type { World } from '../world.ts';
import { createBilling } from './billing.ts';

interface AccountsNeeds {
  storage: Storage;
  world: World;
  makeId: MakeId;
  live: { allPrepaid: boolean };
}

interface Neighbours {
  events: EventFeed;
  usage: UsageReader;
  workspaces: Workspaces;
  /** Known once the daemon's owner is. */
  hostWorkspace: { id: string | undefined };
}

/** Who calls, what they are held to, and what they pay from. */
export function createAccounts(needs: AccountsNeeds, neighbours: Neighbours) {
  const { storage, world, makeId } = needs;
  const { events, usage, workspaces, hostWorkspace } = neighbours;
  const now = () => world.now();
  const inUse = liveKeys({ store: storage.keys, now });
  const authentication = authenticator({
    keysStore: storage.keys,
    workspacesStore: storage.workspaces,
    tokensStore: storage.tokens,
    digest: sha256,
    now,
    live: inUse,
    onExpired: ({ keyId, workspaceId }) => {
      const data = { key: keyId, param: 'limits.expires_at' };
      events.publish({ type: 'limit.reached', workspaceId, data });
    },
  });
  const billing = createBilling(needs, hostWorkspace);
  const { admission, credit } = billing;
  const keys = makeKeys({
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
  const owned = keyOwnership({
    store: storage.keys,
    workspaces,
    admission,
    live: inUse,
    lastUse: authentication.lastUse,
    now,
  });
  return { ...billing, authentication, keys, owned };
}
