import { savedQueries } from '../../data/preferences.ts';
import { setQuery } from '../../data/route.ts';
import { Menu } from '../../parts/menu.tsx';

const savedMax = 50;

/** Queries that this browser keeps, one a line. */
export function SavedQueries({ query }: { query: string }) {
  const saved = savedQueries.value.split('\n').filter(Boolean);
  const keep = (queries: readonly string[]) => {
    savedQueries.value = queries.slice(0, savedMax).join('\n');
  };
  return (
    <Menu label="Saved">
      {saved.map((one) => (
        <div key={one} class="saved-query">
          <button
            type="button"
            aria-pressed={one === query}
            onClick={() => setQuery({ q: one }, { replace: false })}
          >
            <code>{one}</code>
          </button>
          <button
            type="button"
            aria-label={`Forget ${one}`}
            onClick={() => keep(saved.filter((other) => other !== one))}
          >
            ✕
          </button>
        </div>
      ))}
      {saved.length === 0 && <p class="quiet">Filters that you save stay in this browser.</p>}
      <button
        type="button"
        disabled={query === '' || saved.includes(query)}
        onClick={() => keep([query, ...saved])}
      >
        Save this filter
      </button>
    </Menu>
  );
}
