import type { TraceFacets as FacetsView } from '../../../shared/contract/traces.ts';
import { isoTime } from '../../../shared/time/time.ts';
import type { Facet, FacetField, RejectionCount, TraceFacets } from './store.ts';

const valuesMax = 50;

/** The values that a rejected call has in place of those of a finished one. */
const ofRejections: Record<FacetField, (rejection: RejectionCount) => readonly (string | null)[]> = {
  status: () => ['rejected'],
  errorCode: ({ errorCode }) => [errorCode],
  model: ({ model }) => [model],
  provider: () => [null],
  keyId: ({ keyId }) => [keyId],
  client: ({ client }) => [client],
  user: ({ user }) => [user],
  tag: ({ tags }) => (tags.length === 0 ? [null] : tags),
  conversation: ({ conversation }) => [conversation],
  endpoint: ({ endpoint }) => [endpoint],
};

/** Counts of finished and rejected calls together. */
export function facetsView(
  { calls, facets, partial, countedSince }: TraceFacets,
  rejections: readonly RejectionCount[],
): FacetsView {
  const facet = (field: FacetField) => ({
    ...withRejections(facets[field], rejections, ofRejections[field]),
    is_partial: partial.includes(field),
  });
  return {
    object: 'trace.facets',
    calls: calls + rejections.reduce((sum, rejection) => sum + rejection.calls, 0),
    counted_since: countedSince === undefined ? null : isoTime(countedSince),
    facets: {
      status: facet('status'),
      error: facet('errorCode'),
      model: facet('model'),
      provider: facet('provider'),
      key: facet('keyId'),
      client: facet('client'),
      user: facet('user'),
      tag: facet('tag'),
      conversation: facet('conversation'),
      endpoint: facet('endpoint'),
    },
  };
}

function withRejections(
  { values, other, none }: Facet,
  rejections: readonly RejectionCount[],
  valuesOf: (rejection: RejectionCount) => readonly (string | null)[],
): Facet {
  const counts = new Map(values.map(({ value, calls }) => [value, calls]));
  let without = none;
  for (const rejection of rejections) {
    for (const value of valuesOf(rejection)) {
      if (value === null) without += rejection.calls;
      else counts.set(value, (counts.get(value) ?? 0) + rejection.calls);
    }
  }
  const sorted = [...counts].sort(([, most], [, fewer]) => fewer - most);
  const rest = sorted.slice(valuesMax).reduce((sum, [, calls]) => sum + calls, 0);
  return {
    values: sorted.slice(0, valuesMax).map(([value, calls]) => ({ value, calls })),
    other: other + rest,
    none: without,
  };
}
