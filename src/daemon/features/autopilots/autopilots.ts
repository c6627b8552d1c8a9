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
import type { People } from '../profile/index.ts';
import { candidateHandles, checkHandle } from './choose-handle.ts';
import { requireMayRaise } from './payment-permission.ts';
import type { AutopilotRecord, AutopilotsStore } from './store.ts';

export interface AutopilotsDeps {
  store: AutopilotsStore;
  people: Pick<People, 'of'>;
  makeId: MakeId;
  randomBytes: (count: number) => Uint8Array;
  now: () => number;
}

type Change = Body<typeof updateAutopilot>;

/** A change is retried when another one came in between. */
const attemptsMax = 5;

/** The caller's autopilots. Those of others do not exist for the caller: `not_found`. */
export function createAutopilots(deps: AutopilotsDeps) {
  const { store, people, now } = deps;

  const find = async (caller: Caller, reference: string): Promise<AutopilotRecord> => {
    const { number } = await people.of(caller);
    const record = await store.find(number, reference);
    if (!record) throw new ApiError('not_found');
    return record;
  };
  const change = async (caller: Caller, reference: string, request: Change): Promise<AutopilotRecord> => {
    wellFormedMembers(request);
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const before = await find(caller, reference);
      const after = applyChange(before, request, now());
      if (after === before) return before;
      requireMayRaise(caller, before.policy, after.policy);
      const outcome = await store.replace(before, after);
      if (outcome === 'done') return after;
      if (outcome === 'handle-taken') throw inputFault('handle', 'belongs to another autopilot');
    }
    throw new ApiError('conflict');
  };

  return {
    async create(caller: Caller, request: Body<typeof createAutopilot>): Promise<AutopilotRecord> {
      wellFormedMembers(request);
      const { number } = await people.of(caller);
      const at = now();
      const record: Omit<AutopilotRecord, 'handle'> = {
        id: deps.makeId('ap'),
        owner: number,
        displayName: request.displayName,
        avatar: request.avatar ?? '',
        tagline: request.tagline ?? '',
        status: request.status ?? 'active',
        visibility: request.visibility ?? 'private',
        configVersion: 1,
        createdAt: at,
        updatedAt: at,
        profile: merged<AutopilotProfile>({}, request.profile),
        policy: merged<AutopilotPolicy>({ l402RequireApproval: true }, request.policy),
      };
      requireMayRaise(caller, {}, record.policy);
      const handle = await store.insert(
        record,
        candidateHandles(request.handle, request.displayName, deps.randomBytes),
      );
      if (handle === undefined) throw inputFault('handle', 'belongs to another autopilot');
      return { ...record, handle };
    },

    find,

    async list(caller: Caller, page: { limit: number; status: AutopilotStatus | undefined }) {
      const { number } = await people.of(caller);
      return await store.list(number, page);
    },

    /**
     * Fails with `invalid_request` for an archived autopilot or a taken handle, and with `out_of_scope` for a policy that
     * allows more payments if the caller may not pay.
     */
    change,

    async archive(caller: Caller, reference: string): Promise<AutopilotRecord> {
      const record = await find(caller, reference);
      return record.status === 'archived' ? record : await change(caller, record.id, { status: 'archived' });
    },
  };
}

export type Autopilots = ReturnType<typeof createAutopilots>;

/** Applies a change; returns the same record if nothing differs. */
function applyChange(before: AutopilotRecord, request: Change, at: number): AutopilotRecord {
  if (before.status === 'archived')
    throw inputFault('status', 'is `archived`; archived autopilots cannot be changed');
  const { profile, policy, handle, ...plain } = request;
  const after: AutopilotRecord = {
    ...before,
    ...plain,
    ...(handle !== undefined && { handle: checkHandle(handle) }),
    profile: merged(before.profile, profile),
    policy: merged(before.policy, policy),
  };
  if (!isSame(before, after, ['profile', 'policy'])) after.configVersion += 1;
  const isUnchanged = isSame(before, after, Object.keys(before) as (keyof AutopilotRecord)[]);
  return isUnchanged ? before : { ...after, updatedAt: at };
}

/** Absent members stay, null clears. */
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
