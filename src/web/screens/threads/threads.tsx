import { route, setQuery } from '../../data/route.ts';
import { Choice } from '../../parts/choice.tsx';
import { StoredResponse } from './response.tsx';
import { ResponseList } from './responses.tsx';
import { ThreadPage } from './thread.tsx';
import { ThreadList } from './thread-list.tsx';

const kinds = [
  { value: 'threads', title: 'Threads' },
  { value: 'responses', title: 'Responses' },
] as const;

/** Stored threads and responses, and one of them: `#/threads/th_1`, `#/threads/resp_1`. */
export function Threads() {
  const { path, query } = route.value;
  const [id] = path;
  const kind = query.get('show') === 'responses' ? 'responses' : 'threads';
  if (id?.startsWith('resp_')) return <StoredResponse key={id} id={id} />;
  if (id !== undefined) return <ThreadPage key={id} id={id} />;
  return (
    <>
      <header class="heading">
        <h1>Threads & responses</h1>
        <Choice
          label="What is listed"
          options={kinds}
          value={kind}
          onChange={(value) => setQuery({ show: value === 'threads' ? undefined : value })}
        />
      </header>
      {kind === 'threads' ? <ThreadList /> : <ResponseList />}
    </>
  );
}
