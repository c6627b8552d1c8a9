import type { Budget } from '../../shared/contract/budgets.ts';
import { callsHref } from './calls-link.ts';
import { inRange } from './calls-query.ts';
import { hrefOf } from './route.ts';

type Counted = Pick<Budget, 'scope' | 'value'>;

/**
 * The address of the calls that a budget counts since a time, the dearest first. Undefined for that of a key: it also counts
 * the keys that the key issued, which no list names.
 */
export function budgetCallsHref({ scope, value }: Counted, since?: string): string | undefined {
  if (scope === 'key') return undefined;
  if (scope === 'where')
    return hrefOf('calls', [], { q: inRange(value ?? '', since, undefined), sort: 'cost' });
  const filters = scope === 'workspace' ? {} : { [scope]: value };
  return callsHref({ ...filters, status: { not: ['rejected'] }, since }, { sort: 'cost' });
}
