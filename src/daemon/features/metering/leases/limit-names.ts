import type { SpendPeriod } from '../../../../shared/spend-periods.ts';
import type { KeyLimits } from '../../../handler.ts';
import type { BudgetRule, BudgetScope } from '../budget-rules.ts';
import type { Subject } from './messages.ts';

type CapPeriod = NonNullable<KeyLimits['spendCap']>['period'];

/** The limits of calls that members share. A cap or budget with another period or scope is another limit. */
export type LimitName =
  | { kind: 'cap'; period: CapPeriod; keyId: string }
  | { kind: 'rate'; keyId: string }
  | { kind: 'balance'; workspaceId: string }
  | { kind: 'budget'; period: SpendPeriod; workspaceId: string; id: string; scope: BudgetScope };

export const capSubject = (keyId: string, period: CapPeriod): Subject => `cap/${period}/${keyId}`;
export const rateSubject = (keyId: string): Subject => `rate/${keyId}`;
export const balanceSubject = (workspaceId: string): Subject => `balance/${workspaceId}`;

export function budgetSubject({ period, workspaceId, id, scope }: BudgetRule): Subject {
  return `budget/${period}/${workspaceId}/${id}/${scope.kind}/${scope.value}`;
}

/** The limit of a subject that one of the functions above returned. */
export function limitOf(subject: Subject): LimitName {
  const [kind, first = '', second = '', id = '', scopeKind = '', ...value] = subject.split('/');
  if (kind === 'cap') return { kind, period: first as CapPeriod, keyId: second };
  if (kind === 'rate') return { kind, keyId: first };
  if (kind === 'balance') return { kind, workspaceId: first };
  if (kind !== 'budget') throw new TypeError(`${subject} is not a limit`);
  const scope = { kind: scopeKind as BudgetScope['kind'], value: value.join('/') };
  return { kind, period: first as SpendPeriod, workspaceId: second, id, scope };
}
