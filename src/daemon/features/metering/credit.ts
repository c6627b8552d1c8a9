import { ApiError } from '../../../shared/errors.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { inputFault, wellFormed } from '../../../shared/input-faults.ts';
import { type NanoUsd, parseUsd } from '../../../shared/money.ts';
import type { LoginCaller } from '../../handler.ts';
import type { Admission } from './admission.ts';
import type { AccountRecord, GrantRecord, LedgerStore } from './ledger-store.ts';

const grantMaxUsd = 1_000_000;
const grantMax: NanoUsd = grantMaxUsd * 1_000_000_000;

export interface CreditNeeds {
  store: Pick<LedgerStore, 'grant' | 'accounts' | 'verify' | 'stillHeld'>;
  admission: Pick<Admission, 'balanceOf' | 'credited' | 'openRequests'>;
  /** The id of a workspace that a caller names by id, slug or `me`. */
  workspaceId: (caller: LoginCaller, reference: string) => Promise<string | undefined>;
  isPrepaid: (workspaceId: string) => boolean;
  makeId: MakeId;
  now: () => number;
}

export interface GrantWish {
  workspace: string;
  usd: string;
  note: string | null;
  reference: string | null;
}

/** What a check of the books comes to; `problems` are sentences. */
export interface BooksCheck {
  at: number;
  accounts: number;
  entries: number;
  grants: number;
  holds: number;
  problems: string[];
}

/** Credit that the host grants, and the books that it is kept in. */
export function createCredit(needs: CreditNeeds) {
  const { store, admission, isPrepaid, now } = needs;

  const find = async (caller: LoginCaller, reference: string): Promise<string> => {
    const id = await needs.workspaceId(caller, reference);
    if (id !== undefined) return id;
    throw new ApiError('not_found', { param: 'workspace', message: 'There is no such workspace.' });
  };
  const balanceOf = async (workspaceId: string): Promise<NanoUsd | null> =>
    isPrepaid(workspaceId) ? await admission.balanceOf(workspaceId) : null;

  return {
    /** What a workspace has in advance; null where it pays afterwards. */
    balanceOf,

    /** Resolves when calls can be made with it. Fails with `not_found`, `invalid_request` or `conflict`. */
    async grant(
      caller: LoginCaller,
      wish: GrantWish,
    ): Promise<{ grant: GrantRecord; balance: NanoUsd | null }> {
      const amount = parseUsd(wish.usd) ?? 0;
      if (amount <= 0 || amount > grantMax)
        throw inputFault('usd', `must be above 0 and at most ${grantMaxUsd}`);
      for (const name of ['note', 'reference'] as const) wellFormed(wish[name], name);
      const workspaceId = await find(caller, wish.workspace);
      // Read before it is written, so that it is not counted twice.
      await balanceOf(workspaceId);
      const { grant, isNew } = await store.grant({
        id: needs.makeId('grant'),
        workspaceId,
        amount,
        note: wish.note,
        reference: wish.reference,
        grantedBy: caller.userId,
        createdAt: now(),
      });
      if (isNew) admission.credited(workspaceId, amount);
      return { grant, balance: await balanceOf(workspaceId) };
    },

    /** All workspaces, or one. */
    async accounts(caller: LoginCaller, reference: string | undefined) {
      const records = await store.accounts(reference && (await find(caller, reference)));
      return records.map((record: AccountRecord) => ({
        ...record,
        isPrepaid: isPrepaid(record.workspaceId),
      }));
    },

    /** Adds up the books, and looks for holds that no call runs for. */
    async verify(): Promise<BooksCheck> {
      const before = admission.openRequests();
      const { held, problems, total: _total, ...counts } = await store.verify();
      const after = admission.openRequests();
      const orphans = held.filter((id) => !before.has(id) && !after.has(id));
      // A call may have begun and ended meanwhile: then its hold is gone by now.
      const left = orphans.length > 0 ? await store.stillHeld(orphans) : [];
      const sentences = left.map((id) => `Money is held for ${id}, and no such call is running.`);
      return { ...counts, at: now(), holds: held.length, problems: [...problems, ...sentences] };
    },
  };
}

export type Credit = ReturnType<typeof createCredit>;
