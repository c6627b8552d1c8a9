import type {
  AutopilotPolicy,
  AutopilotProfile,
  AutopilotStatus,
  createAutopilot,
  updateAutopilot,
} from '../../../shared/contract/autopilots.ts';
import type { Body } from '../../../shared/contract/endpoint.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { inputFault, wellFormedMembers } from '../../../shared/input-faults.ts';
import type { Caller } from '../../handler.ts';
import type { Persons } from '../profile/index.ts';
import type { AutopilotRecord, AutopilotsStore } from './autopilots-store.ts';
import { checkedHandle, handlesFor } from './handles.ts';

export interface AutopilotsNeeds {
  store: AutopilotsStore;
  persons: Pick<Persons, 'of'>;
  makeId: MakeId;
  randomBytes: (count: number) => Uint8Array;
  now: () => number;
}

type Change = Body<typeof updateAutopilot>;

/** A change is made again when another one came in between; this often. */
const triesMax = 5;

/** Autopilots of whoever calls; those of others are not there. */
export function autopilots(needs: AutopilotsNeeds) {
  const { store, persons, now } = needs;

  const find = async (caller: Caller, reference: string): Promise<AutopilotRecord> => {
    const { number } = await persons.of(caller);
    const record = await store.find(number, reference);
    if (!record) throw new ApiError('not_found');
    return record;
  };
  const change = async (caller: Caller, reference: string, wish: Change): Promise<AutopilotRecord> => {
    wellFormedMembers(wish);
    for (let tries = 0; tries < triesMax; tries += 1) {
      const before = await find(caller, reference);
      const after = changed(before, wish, now());
      if (after === before) return before;
      const outcome = await store.replace(before, after);
      if (outcome === 'done') return after;
      if (outcome === 'handle-taken') throw inputFault('handle', 'is that of another autopilot');
    }
    throw new ApiError('conflict');
  };

  return {
    async create(caller: Caller, wish: Body<typeof createAutopilot>): Promise<AutopilotRecord> {
      wellFormedMembers(wish);
      const { number } = await persons.of(caller);
      const at = now();
      const record: Omit<AutopilotRecord, 'handle'> = {
        id: needs.makeId('ap'),
        owner: number,
        displayName: wish.displayName,
        avatar: wish.avatar ?? '',
        tagline: wish.tagline ?? '',
        status: wish.status ?? 'active',
        visibility: wish.visibility ?? 'private',
        configVersion: 1,
        createdAt: at,
        updatedAt: at,
        profile: merged<AutopilotProfile>({}, wish.profile),
        policy: merged<AutopilotPolicy>({ l402RequireApproval: true }, wish.policy),
      };
      const handle = await store.insert(record, handlesFor(wish.handle, wish.displayName, needs.randomBytes));
      if (handle === undefined) throw inputFault('handle', 'is that of another autopilot');
      return { ...record, handle };
    },

    find,

    async list(caller: Caller, page: { limit: number; status: AutopilotStatus | undefined }) {
      const { number } = await persons.of(caller);
      return await store.list(number, page);
    },

    /** Fails with `invalid_request` for one that is archived, and for a handle that is taken. */
    change,

    /** Archives it; one that is archived stays as it is. */
    async archive(caller: Caller, reference: string): Promise<AutopilotRecord> {
      const record = await find(caller, reference);
      return record.status === 'archived' ? record : await change(caller, record.id, { status: 'archived' });
    },
  };
}

export type Autopilots = ReturnType<typeof autopilots>;

/** The record with a change in it; the record itself when nothing is another than before. */
function changed(before: AutopilotRecord, wish: Change, at: number): AutopilotRecord {
  if (before.status === 'archived')
    throw inputFault('status', 'is `archived`, which does not change any more');
  const { profile, policy, handle, ...plain } = wish;
  const after: AutopilotRecord = {
    ...before,
    ...plain,
    ...(handle !== undefined && { handle: checkedHandle(handle) }),
    profile: merged(before.profile, profile),
    policy: merged(before.policy, policy),
  };
  if (!isSame(before, after, ['profile', 'policy'])) after.configVersion += 1;
  const isUnchanged = isSame(before, after, Object.keys(before) as (keyof AutopilotRecord)[]);
  return isUnchanged ? before : { ...after, updatedAt: at };
}

/** What is left out stays, null clears. */
function merged<Members extends object>(before: Members, change: Members | undefined): Members {
  const entries = Object.entries({ ...before, ...change });
  return Object.fromEntries(entries.filter(([, value]) => value !== null)) as Members;
}

function isSame(
  before: AutopilotRecord,
  after: AutopilotRecord,
  names: readonly (keyof AutopilotRecord)[],
): boolean {
  return names.every((name) => JSON.stringify(before[name]) === JSON.stringify(after[name]));
}
