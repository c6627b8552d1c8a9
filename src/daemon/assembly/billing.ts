import type { MakeId } from '../../shared/ids.ts';
import { createAdmission, createCredit } from '../features/metering/index.ts';
import type { Storage } from '../storage/storage.ts';
import type { World } from '../world.ts';

interface BillingNeeds {
  storage: Storage;
  world: World;
  makeId: MakeId;
  /** Tells whether the host's own workspace pays in advance too, by now. */
  live: { allPrepaid: boolean };
}

/** What calls cost and what they may: the host's own workspace pays afterwards, all others in advance. */
export function createBilling(needs: BillingNeeds, hostWorkspace: { id: string | undefined }) {
  const { storage, world, makeId } = needs;
  const isPrepaid = (workspaceId: string) => needs.live.allPrepaid || workspaceId !== hostWorkspace.id;
  const limits = { ledger: storage.ledger, clock: world };
  const admission = createAdmission({ store: storage.metering, state: storage.state, limits });
  const credit = createCredit({
    store: storage.ledger,
    admission,
    workspaceId: async (caller, reference) =>
      reference === 'me' ? caller.workspaceId : (await storage.workspaces.workspace(reference))?.id,
    isPrepaid,
    makeId,
    now: () => world.now(),
  });
  return { admission, credit, isPrepaid };
}
