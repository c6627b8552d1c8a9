import { getLedgerCheck, grantCredit, listCredit, verifyLedger } from '../../../shared/contract/credit.ts';
import { formatUsd } from '../../../shared/money.ts';
import { isoTime } from '../../../shared/time.ts';
import { implement, loginOf } from '../../handler.ts';
import type { BooksCheck, Credit } from './credit.ts';

interface CreditHandlersDeps {
  credit: Credit;
}

/** The owner's endpoints for prepaid credit and for verifying the ledger. */
export function creditHandlers({ credit }: CreditHandlersDeps) {
  return [
    implement(grantCredit, async ({ caller, body }) => {
      const { workspace, usd, note = null, reference = null } = body;
      const { grant, balance } = await credit.grant(loginOf(caller), { workspace, usd, note, reference });
      return {
        id: grant.id,
        object: 'credit_grant',
        workspace: grant.workspaceId,
        usd: formatUsd(grant.amount),
        note: grant.note,
        reference: grant.reference,
        balance_usd: balance === null ? null : formatUsd(balance),
        created_at: isoTime(grant.createdAt),
      };
    }),

    implement(listCredit, async ({ caller, query }) => {
      const accounts = await credit.accounts(loginOf(caller), query.workspace);
      const data = accounts.map(({ workspaceId, slug, name, isPrepaid, balance, granted, held }) => ({
        workspace: workspaceId,
        slug,
        name,
        billing: isPrepaid ? ('prepaid' as const) : ('postpaid' as const),
        balance_usd: isPrepaid ? formatUsd(balance) : null,
        granted_usd: formatUsd(granted),
        spent_usd: formatUsd(granted - balance),
        held_usd: formatUsd(held),
      }));
      return { object: 'list', data, has_more: false, next: null };
    }),

    implement(verifyLedger, async () => checkView(await credit.verify())),

    implement(getLedgerCheck, async () => checkView(await credit.verify())),
  ];
}

function checkView({ at, problems, ...counts }: BooksCheck) {
  return { ok: problems.length === 0, checked_at: isoTime(at), ...counts, problems };
}
