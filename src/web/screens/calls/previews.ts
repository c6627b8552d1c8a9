import { signal } from '@preact/signals';
import type { listContentPreviews as contract } from '../../../shared/contract/content.ts';
import type { Result } from '../../../shared/contract/endpoint.ts';
import type { TraceView } from '../../../shared/contract/traces.ts';
import { listContentPreviews } from '../../../shared/endpoints.ts';
import { call } from '../../data/api.ts';
import { login } from '../../data/login.ts';

export type Preview = Result<typeof contract>['data'][number];

/** The last question and the beginning of the answer of listed calls, by their ids. */
export const previews = signal<ReadonlyMap<string, Preview>>(new Map());

/** A page of the list is one request. */
const askedMax = 50;
let asked = new Set<string>();

login.subscribe(() => {
  previews.value = new Map();
  asked = new Set();
});

/** Asks for the previews of calls that are not known yet. Without the right to read content there are none. */
export function loadPreviews(rows: readonly TraceView[]): void {
  const wanted = rows.filter(({ request_id: id, captured }) => !asked.has(id) && isKept(captured));
  for (let at = 0; at < wanted.length; at += askedMax) {
    const ids = wanted.slice(at, at + askedMax).map(({ request_id: id }) => id);
    const asking = asked;
    for (const id of ids) asking.add(id);
    call(listContentPreviews, { query: { requests: ids.join() } }).then(
      ({ data }) => {
        // Another login was chosen meanwhile.
        if (asking === asked)
          previews.value = new Map([...previews.value, ...data.map((one) => [one.request_id, one] as const)]);
      },
      () => {},
    );
  }
}

/** A list that did not learn it in time may have it all the same. */
function isKept(captured: TraceView['captured']): boolean {
  return captured === null || captured.state === 'memory' || captured.state === 'disk';
}
