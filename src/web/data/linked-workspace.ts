import { effect } from '@preact/signals';
import { login, signIn } from './login.ts';
import { route, setQuery } from './route.ts';

/** Chooses the workspace that a link names, once someone is signed in. */
export function watchWorkspaceLinks(): void {
  effect(() => {
    const workspace = route.value.query.get('workspace');
    const known = login.value;
    if (workspace === null || known === undefined || known === 'unknown') return;
    setQuery({ workspace: undefined });
    if (known.workspace !== workspace) signIn({ ...known, workspace });
  });
}
