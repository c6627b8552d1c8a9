import type {
  AutopilotPolicy,
  AutopilotProfile,
  AutopilotSchedule,
  AutopilotStatus,
  createAutopilot,
  updateAutopilot,
} from '../../../shared/contract/autopilots.ts';
import type { Body } from '../../../shared/contract/endpoint.ts';
import { ApiError } from '../../../shared/errors.ts';
import { inputFault, wellFormedMembers } from '../../../shared/faults/input-faults.ts';
import type { MakeId } from '../../../shared/ids.ts';
import type { Caller } from '../../base/handler.ts';
import type { People } from '../profile/index.ts';
import { candidateHandles, checkHandle } from './choose-handle.ts';
import { checkTimes, timeAfter } from './cron.ts';
import { requireMayRaise } from './payment-permission.ts';
import { runnerOf } from './runner.ts';
import { modelSpendCapOf } from './spending-cap.ts';
import type { AutopilotRecord, AutopilotsStore, ScheduledBy } from './store.ts';

export interface AutopilotsDeps {
  store: AutopilotsStore;
  people: Pick<People, 'of'>;
  makeId: MakeId;
  randomBytes: (count: number) => Uint8Array;
  now: () => number;
  /** The time zone of the host. */
  timeZone: () => string;
  /** The model of autopilots without one. */
  defaultModel: () => string | undefined;
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
  const requireModel = ({ model }: AutopilotPolicy): void => {
    if ((model ?? deps.defaultModel()) !== undefined) return;
    throw inputFault('policy.model', 'is missing, and this host has no `default_model`');
  };
  const context = (caller: Caller): Omit<Planning, 'status'> => ({
    caller,
    now: now(),
    timeZone: deps.timeZone,
  });
  const change = async (caller: Caller, reference: string, request: Change): Promise<AutopilotRecord> => {
    wellFormedMembers(request);
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const before = await find(caller, reference);
      const changed = applyChange(before, request);
      const planning = { ...context(caller), status: changed.status };
      const after = { ...changed, ...planned(before, request.schedule, planning) };
      if (isSame(before, after, membersOf(before))) return before;
      requireMayRaise(caller, before.policy, after.policy);
      if (request.schedule) requireModel(after.policy);
      after.updatedAt = planning.now;
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
        ...planned(unplanned, request.schedule, { ...context(caller), status: request.status ?? 'active' }),
      };
      modelSpendCapOf(record.policy);
      requireMayRaise(caller, {}, record.policy);
      if (request.schedule) requireModel(record.policy);
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

    /** What others show: `public` ones to everyone, `discoverable` ones to the users of the host. */
    async directory(caller: Caller, page: { limit: number; before: string | undefined }) {
      // Agents sign up by themselves.
      const isUser = caller.kind !== 'anonymous' && caller.kind !== 'agent';
      return await store.directory({ ...page, isPublicOnly: !isUser });
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

type Plan = Pick<AutopilotRecord, 'schedule' | 'scheduledBy' | 'nextRunAt'>;

const unplanned: Plan = { schedule: null, scheduledBy: null, nextRunAt: null };

interface Planning {
  caller: Caller;
  status: AutopilotStatus;
  now: number;
  timeZone: () => string;
}

/**
 * The schedule after a change, and its next run. A run that is planned stays, unless its times change: what was due may not have
 * been claimed yet. Fails with `invalid_request`, and with `out_of_scope` for a caller that may not run autopilots.
 */
function planned(
  before: Plan,
  change: Change['schedule'],
  { caller, status, now, timeZone }: Planning,
): Plan {
  const schedule = changedSchedule(before.schedule, change, timeZone);
  if (schedule === null) return unplanned;
  const isOld = before.schedule !== null && isSameRun(before.schedule, schedule);
  const areTimesOld =
    before.schedule?.cron === schedule.cron && before.schedule.timeZone === schedule.timeZone;
  if (!areTimesOld) checkTimes(schedule, now);
  const scheduledBy = isOld ? before.scheduledBy : scheduledByCaller(caller);
  const isPlanned = status === 'active' && !schedule.paused;
  if (!isPlanned) return { schedule, scheduledBy, nextRunAt: null };
  const nextRunAt = areTimesOld && before.nextRunAt !== null ? before.nextRunAt : timeAfter(schedule, now);
  return { schedule, scheduledBy, nextRunAt };
}

/** Whether two schedules differ in nothing but whether they are paused. */
function isSameRun(one: AutopilotSchedule, other: AutopilotSchedule): boolean {
  return JSON.stringify({ ...one, paused: false }) === JSON.stringify({ ...other, paused: false });
}

function changedSchedule(
  before: AutopilotSchedule | null,
  change: Change['schedule'],
  timeZone: () => string,
): AutopilotSchedule | null {
  if (change === undefined) return before;
  if (change === null) return null;
  const after = merged<Partial<AutopilotSchedule>>(before ?? {}, change as Partial<AutopilotSchedule>);
  const { cron, input, maxSpendMsats } = after;
  if (cron === undefined) throw inputFault('schedule.cron', 'is missing');
  if (input === undefined) throw inputFault('schedule.input', 'is missing: what the autopilot is asked');
  return {
    cron,
    timeZone: after.timeZone ?? timeZone(),
    input,
    paused: after.paused ?? false,
    ...(maxSpendMsats !== undefined && { maxSpendMsats }),
  };
}

function scheduledByCaller(caller: Caller): ScheduledBy {
  const { userId, workspaceId, credentialId, mayPay } = runnerOf(caller);
  const lasting = caller.kind === 'login' ? null : (credentialId ?? null);
  return { userId, workspaceId, credentialId: lasting, mayPay };
}

/** Applies a change, but for the schedule. */
function applyChange(before: AutopilotRecord, request: Change): AutopilotRecord {
  if (before.status === 'archived')
    throw inputFault('status', 'is `archived`; archived autopilots cannot be changed');
  const { profile, policy, handle, schedule: _, ...plain } = request;
  const after: AutopilotRecord = {
    ...before,
    ...plain,
    ...(handle !== undefined && { handle: checkHandle(handle) }),
    profile: merged(before.profile, profile),
    policy: merged(before.policy, policy),
  };
  modelSpendCapOf(after.policy);
  if (!isSame(before, after, ['profile', 'policy'])) after.configVersion += 1;
  return after;
}

/** Absent members stay, null clears. */
function merged<Members extends object>(before: Members, change: Members | undefined): Members {
  const entries = Object.entries({ ...before, ...change });
  return Object.fromEntries(entries.filter(([, value]) => value !== null)) as Members;
}

const membersOf = (record: AutopilotRecord) => Object.keys(record) as (keyof AutopilotRecord)[];

function isSame(
  before: AutopilotRecord,
  after: AutopilotRecord,
  names: readonly (keyof AutopilotRecord)[],
): boolean {
  return names.every((name) => JSON.stringify(before[name]) === JSON.stringify(after[name]));
}
