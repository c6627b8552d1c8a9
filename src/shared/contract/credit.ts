import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { Count, listOf, maybe, nullable, OneLine, Timestamp, Usd, WorkspaceReference } from './vocabulary.ts';

/** Credit that the host gave to a workspace. */
export const CreditGrant = Type.Object(
  {
    id: Type.String({ description: '`grant_…`' }),
    object: Type.Literal('credit_grant'),
    workspace: Type.String({ description: 'The id of the workspace.' }),
    usd: Usd,
    note: nullable(Type.String()),
    reference: nullable(Type.String()),
    balance_usd: nullable(
      Type.String({ description: 'What the workspace has now; null where it pays afterwards.' }),
    ),
    created_at: Timestamp,
  },
  { $id: 'CreditGrant' },
);

/** One workspace's money. */
export const CreditAccount = Type.Object(
  {
    workspace: Type.String({ description: 'The id of the workspace.' }),
    slug: Type.String(),
    name: Type.String(),
    billing: Type.Enum(['prepaid', 'postpaid'], {
      description: '`prepaid`: calls are refused once the balance is used up.',
    }),
    balance_usd: nullable(
      Type.String({ description: 'Prepaid dollars; null where the workspace pays afterwards.' }),
    ),
    granted_usd: Usd,
    spent_usd: Usd,
    held_usd: Type.String({ description: 'Set aside for calls that run, in dollars.' }),
  },
  { $id: 'CreditAccount' },
);

/** What a check of the books found. */
export const LedgerCheck = Type.Object(
  {
    ok: Type.Boolean(),
    checked_at: Timestamp,
    accounts: Count,
    entries: Count,
    grants: Count,
    holds: Type.Integer({ minimum: 0, description: 'Calls that money is held for.' }),
    problems: Type.Array(Type.String(), {
      description: 'What is wrong, for people; empty when all is well.',
    }),
  },
  { $id: 'LedgerCheck', description: 'Whether the books add up.' },
);

const hostOnly = { login: 'owner', loginOnly: true } as const;
const hostErrors = ['unauthenticated', 'signed_out', 'permission'] as const;

/** Gives credit to a workspace. */
export const grantCredit = endpoint({
  id: 'grantCredit',
  method: 'POST',
  path: '/v1/admin/credit',
  summary: 'Grant credit to a workspace.',
  description:
    'A second grant with the same `reference` is answered with the first one, or with 409 where it is another.',
  tag: 'Credit',
  access: hostOnly,
  surface: 'v1',
  body: Type.Object(
    {
      workspace: WorkspaceReference,
      usd: Type.String({
        pattern: '^[0-9]{1,7}(\\.[0-9]{1,9})?$',
        description: 'Dollars, above zero and at most 1,000,000.',
      }),
      note: maybe(Type.String({ maxLength: 200 })),
      reference: maybe(OneLine({ maxLength: 128, description: 'Your own name of the grant.' })),
    },
    { additionalProperties: false },
  ),
  result: CreditGrant,
  errors: [...hostErrors, 'invalid_request', 'not_found', 'conflict'],
});

/** What every workspace has and had. */
export const listCredit = endpoint({
  id: 'listCredit',
  method: 'GET',
  path: '/v1/admin/credit',
  summary: 'List what workspaces were granted and have left.',
  tag: 'Credit',
  access: hostOnly,
  surface: 'v1',
  query: Type.Object({ workspace: Type.Optional(WorkspaceReference) }),
  result: listOf(CreditAccount),
  errors: [...hostErrors, 'invalid_request', 'not_found'],
});

const checkOfBooks = {
  description:
    'Adds up every account’s entries, all balances, the holds of running calls, and each key’s spending against its calls; and compares each entry with its copy in a chain of hashes.',
  path: '/v1/admin/ledger/verify',
  tag: 'Credit',
  access: hostOnly,
  surface: 'v1',
  result: LedgerCheck,
  errors: hostErrors,
} as const;

/** Checks the books. */
export const verifyLedger = endpoint({
  ...checkOfBooks,
  id: 'verifyLedger',
  method: 'POST',
  summary: 'Check whether the books add up.',
});

/** The same as a plain read, for monitors that send nothing else. */
export const getLedgerCheck = endpoint({
  ...checkOfBooks,
  id: 'getLedgerCheck',
  method: 'GET',
  summary: 'Check whether the books add up, by a plain read.',
});

export type CreditGrant = Static<typeof CreditGrant>;
export type CreditAccount = Static<typeof CreditAccount>;
export type LedgerCheck = Static<typeof LedgerCheck>;
