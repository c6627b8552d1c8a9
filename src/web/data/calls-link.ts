import { type CallsLink, callsQuery } from './calls-query.ts';
import { hrefOf } from './route.ts';

/** The address of the calls that match, the newest first, or the dearest. */
export function callsHref(filters: CallsLink, { sort }: { sort?: 'cost' | undefined } = {}): string {
  return hrefOf('calls', [], { q: callsQuery(filters), sort });
}

/** Some calls that a figure tells of. */
export interface CountedCalls {
  href: string;
  calls: number;
}

/** Counts of calls of a group or a time. */
interface Counts {
  /** All of them. */
  calls: number;
  rejected: number;
  /** Those that failed or were interrupted; undefined where that is not known. */
  errors?: number | undefined;
}

/** The calls that the figures of a group tell of. */
export interface CallFigures {
  calls: CountedCalls;
  errors: CountedCalls;
  rejected: CountedCalls;
  /** Those that were admitted, the dearest first: only they have tokens and costs. */
  charged: CountedCalls;
}

/** Where figures of calls lead to, by the filters that all of the calls match. */
export function figureLinks(filters: CallsLink, { calls, rejected, errors = 0 }: Counts): CallFigures {
  // Groups of a status have no others.
  const withStatus = (status: CallsLink['status']) => ({ ...filters, status: filters.status ?? status });
  const admitted = rejected > 0 ? withStatus({ not: ['rejected'] }) : filters;
  return {
    calls: counted(calls, filters),
    errors: counted(errors, withStatus(['failed', 'interrupted'])),
    rejected: counted(rejected, withStatus('rejected')),
    charged: counted(calls - rejected, admitted, 'cost'),
  };
}

/** The address is made where it is used: charts ask for one at each move of the pointer. */
function counted(calls: number, filters: CallsLink, sort?: 'cost'): CountedCalls {
  return {
    calls,
    get href() {
      return callsHref(filters, { sort });
    },
  };
}
