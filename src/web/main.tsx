import { render } from 'preact';
import { App } from './app.tsx';
import { watchWorkspaceLinks } from './data/linked-workspace.ts';
import { followEvents } from './data/live.ts';
import { followChanges } from './data/live-queries.ts';
import { watchSignInLinks } from './data/sign-in.ts';

watchSignInLinks();
watchWorkspaceLinks();
followEvents();
followChanges();
render(<App />, document.getElementById('app') as HTMLElement);
