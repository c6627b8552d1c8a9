import { useMemo } from 'preact/hooks';
import { listKeys, listSessions } from './endpoints.ts';
import { useList } from './query.ts';

/** Names of keys and of the caller's own logins by their ids; what the caller may not list has its id. */
export function useKeyNames(): (id: string | null) => string {
  const { data: keys } = useList(listKeys, { params: { workspace: 'me' }, query: {} });
  const { data: logins } = useList(listSessions, { query: {} });
  return useMemo(() => {
    const names = new Map(keys?.data.map(({ id, name }) => [id, name]));
    for (const { id, name } of logins?.data ?? []) names.set(id, `login ${name}`);
    return (id) => (id === null ? 'logins' : (names.get(id) ?? id));
  }, [keys, logins]);
}
