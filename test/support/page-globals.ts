import { Window } from 'happy-dom';
import { onTestFinished, vi } from 'vitest';

/** What a page sends, and what it gets in return. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Imports a module of the dashboard, by its path in `src/web`, as if in a page. It has no types: those of browsers are not
 * at hand.
 */
export async function importInPage(path: string, { fetch }: { fetch: Fetch }) {
  const { location, document, localStorage, sessionStorage } = new Window({ url: 'http://127.0.0.1:4100/' });
  // Other tabs never answer.
  class BroadcastChannel extends EventTarget {
    postMessage(): void {}
  }
  const globals = { location, document, localStorage, sessionStorage, BroadcastChannel, fetch };
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
  onTestFinished(() => void vi.unstubAllGlobals());
  return await import(`../../src/web/${path}`);
}
