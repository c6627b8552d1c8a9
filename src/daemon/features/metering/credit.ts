import { inputFault, wellFormed } from '../../../shared/faults/input-faults.ts';
import { notFound } from '../../../shared/faults/not-found.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { type NanoUsd, parseUsd } from '../../../shared/money/money.ts';
import type { LoginCaller } from '../../base/handler.ts';
import type { Admission } from './admission/admission.ts';
import type { AccountRecord, GrantRecord, LedgerStore } from './ledger-store.ts';

const grantMaxUsd = 1_000_000;
const grantMax: NanoUsd = grantMaxUsd * 1_000_000_000;

export interface CreditDeps {
  store: Pick<LedgerStore, 'grant' | 'accounts' | 'verify' | 'stillHeld'>;
  admission: Pick<Admission, 'balanceOf' | 'openRequests'>;
  /** The id of a workspace given by id, slug or `me`. */
  workspaceId: (caller: LoginCaller, reference: string) => Promise<string | undefined>;
  isPrepaid: (workspaceId: string) => boolean;
  makeId: MakeId;
  now: () => number;
}

export interface GrantRequest {
  workspace: string;
  usd: string;
  note: string | null;
  reference: string | null;
}

/** The result of verifying the ledger; `problems` are sentences. */
export interface LedgerCheck {
  at: number;
  accounts: number;
  entries: number;
  grants: number;
  holds: number;
  problems: string[];
}

/** Grants prepaid credit, and verifies the ledger. */
export function createCredit(deps: CreditDeps) {
  const { store, admission, isPrepaid, now } = deps;

  const find = async (caller: LoginCaller, reference: string): Promise<string> => {
    const id = await deps.workspaceId(caller, reference);
    if (id !== undefined) return id;
    throw notFound('workspace', reference, 'workspace');
  };
  const balanceOf = async (workspaceId: string): Promise<NanoUsd | null> =>
    isPrepaid(workspaceId) ? await admission.balanceOf(workspaceId) : null;

  return {
    /** The balance of a prepaid workspace; null for a postpaid one. */
    balanceOf,

    /** Resolves when calls can use the credit. Fails with `not_found`, `invalid_request` or `conflict`. */
    async grant(
      caller: LoginCaller,
      request: GrantRequest,
    ): Promise<{ grant: GrantRecord; balance: NanoUsd | null }> {
      const amount = parseUsd(request.usd) ?? 0;
      if (amount <= 0 || amount > grantMax)
        throw inputFault('usd', `must be above 0 and at most ${grantMaxUsd}`);
      for (const name of ['note', 'reference'] as const) wellFormed(request[name], name);
      const workspaceId = await find(caller, request.workspace);
      const { grant } = await store.grant({
        id: deps.makeId('grant'),
        workspaceId,
        amount,
        note: request.note,
        reference: request.reference,
        grantedBy: caller.userId,
        createdAt: now(),
      });
      return { grant, balance: await balanceOf(workspaceId) };
    },

    /** The accounts of all workspaces, or of one. */
    async accounts(caller: LoginCaller, reference: string | undefined) {
      const records = await store.accounts(reference && (await find(caller, reference)));
      return records.map((record: AccountRecord) => ({
        ...record,
        isPrepaid: isPrepaid(record.workspaceId),
      }));
    },

    /** Verifies the ledger and looks for holds without a running call. */
    async verify(): Promise<LedgerCheck> {
      const before = admission.openRequests();
      const { held, problems, ...counts } = await store.verify();
      const after = admission.openRequests();
      const orphans = held.filter((id) => !before.has(id) && !after.has(id));
      // A call may have started and ended meanwhile; its hold is gone by now.
      const left = orphans.length > 0 ? await store.stillHeld(orphans) : [];
      const sentences = left.map((id) => `Money is held for ${id}, but no such call is running.`);
      return { ...counts, at: now(), holds: held.length, problems: [...problems, ...sentences] };
    },
  };
}

export type Credit = ReturnType<typeof createCredit>;
