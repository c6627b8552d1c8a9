import { useCallback, useMemo } from 'preact/hooks';
import { listKeys, listSessions } from '../../shared/endpoints.ts';
import { type KeyNames, keyText, namesOf } from '../../view/key-names.ts';
import { useList } from './query.ts';

/** Names of keys and of the caller's own logins by their ids; what the caller may not list has its id. */
export function useKeyNames(): KeyNames {
  const { data: keys } = useList(listKeys, { params: { workspace: 'me' }, query: {} });
  const { data: logins } = useList(listSessions, { query: {} });
  return useMemo(() => namesOf(keys?.data ?? [], logins?.data), [keys, logins]);
}

/** The name of a key or login by its id. */
export function useKeyName(): (id: string | null) => string {
  const names = useKeyNames();
  return useCallback((id) => keyText(id, names), [names]);
}
