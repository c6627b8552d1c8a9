import { getSession, listWorkspaces, signOut as signOutSession } from '../../shared/endpoints.ts';
import { callAs } from '../data/api.ts';
import { login, signIn, signOut } from '../data/login.ts';
import { useList, useQuery } from '../data/query.ts';

/** Who is signed in, in which workspace, and the way out. */
export function AccountMenu() {
  const { data, error } = useQuery(getSession, {});
  // An API key has no login.
  const name = data ? data.user.handle : error === undefined ? '' : 'API key';
  return (
    <>
      {data && <WorkspaceChoice current={data.workspace.id} />}
      <button type="button" class="quiet-button" onClick={() => void leave()}>
        Sign out{name && ` (${name})`}
      </button>
    </>
  );
}

/** For members of several workspaces: whose calls, keys and budgets are shown. */
function WorkspaceChoice({ current }: { current: string }) {
  const { data } = useList(listWorkspaces, { query: {} });
  const known = login.value;
  if (known === undefined || known === 'unknown' || data === undefined || data.data.length < 2) return null;
  return (
    <label class="workspace">
      <span class="for-readers">Workspace</span>
      <select
        value={current}
        onChange={({ currentTarget: { value } }) => signIn({ ...known, workspace: value })}
      >
        {data.data.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Ends a login that was made for this browser, too. */
async function leave(): Promise<void> {
  const known = login.value;
  signOut();
  if (known !== undefined && known !== 'unknown' && known.isOwn)
    await callAs(known.secret, signOutSession, {}).catch(() => {});
}
