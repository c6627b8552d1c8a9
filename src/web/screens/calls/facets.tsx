import { getTraceFacets } from '../../../shared/endpoints.ts';
import { briefCount, count } from '../../../view/numbers.ts';
import { selects, toggled } from '../../data/calls-query.ts';
import { useKeyName } from '../../data/key-names.ts';
import { isNarrow } from '../../data/narrow.ts';
import { useQuery } from '../../data/query.ts';
import { setQuery } from '../../data/route.ts';
import { counted } from './call-list.ts';

const shownMax = 8;

/** The values of filters, in the words of the query. */
const facets = [
  ['status', 'Status'],
  ['error', 'Error'],
  ['model', 'Model'],
  ['provider', 'Provider'],
  ['key', 'Key'],
  ['client', 'Client'],
  ['user', 'User'],
  ['tag', 'Tag'],
  ['conversation', 'Conversation'],
  ['endpoint', 'Endpoint'],
] as const;

/** How many calls have each status, model, …; a click filters by it. */
export function Facets({ query }: { query: string }) {
  const { data, isStale } = useQuery(getTraceFacets, { query: counted.value.filters });
  const { text } = counted.value;
  const nameOf = useKeyName();
  const groups = facets.map(([word, title]) => {
    const values = data?.facets[word].values ?? [];
    if (values.length === 0) return null;
    const isPartial = data?.facets[word].is_partial;
    return (
      <fieldset key={word}>
        <legend title={isPartial ? `Counted since ${data?.counted_since}` : undefined}>
          {title}
          {isPartial && ' (recent)'}
        </legend>
        {values.slice(0, shownMax).map(({ value, calls }) => (
          <button
            key={value}
            type="button"
            aria-pressed={selects(query, word, value)}
            onClick={() => setQuery({ q: toggled(query, word, value) }, { replace: false })}
          >
            <span class="facet-name" title={value}>
              {word === 'key' ? nameOf(value) : value}
            </span>
            <span class="facet-count">{briefCount(calls)}</span>
          </button>
        ))}
      </fieldset>
    );
  });
  return (
    <details class="facets" open={!isNarrow.value}>
      <summary>
        Filters
        {data &&
          `: ${data.facets.status.is_partial ? 'at least ' : ''}${count(data.calls)} ${data.calls === 1 ? 'call' : 'calls'}`}
      </summary>
      {text !== undefined && (
        <p class="quiet">
          Counted without <code>"{text}"</code>
        </p>
      )}
      <div class={isStale ? 'stale' : ''}>{groups}</div>
    </details>
  );
}
