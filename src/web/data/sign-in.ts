import { effect, signal, untracked } from '@preact/signals';
import type { Result } from '../../shared/contract/endpoint.ts';
import type { previewSession as preview } from '../../shared/contract/people.ts';
import { createSession, getKey, previewSession, signOut } from '../../shared/endpoints.ts';
import { ReceivedError } from '../../shared/faults/received-error.ts';
import { parseSecret } from '../../shared/secrets.ts';
import { callAs } from './api.ts';
import { isSafeOrigin, lastUser, rememberUser, signIn } from './login.ts';
import { hrefOf, navigate, route } from './route.ts';

export const isSigningIn = signal(false);

/** Why the last attempt failed. */
export const signInFailure = signal<unknown>(undefined);

/** A link that would make this the browser of another user: only its reader knows whether they are that user. */
export interface AskedLink {
  code: string;
  user: Result<typeof preview>['user'];
}

export const askedLink = signal<AskedLink | undefined>(undefined);

const dayMs = 24 * 60 * 60 * 1000;

/** Signs in with an API key, or with a code, as someone typed it. */
export function signInWith(text: string, isKept: boolean): Promise<void> {
  return attempt(async () => {
    if (parseSecret(text) === undefined) return await exchange(text, { isKept });
    await callAs(text, getKey, {});
    rememberUser(undefined);
    signIn({ secret: text, isKept, isOwn: false });
  });
}

/** Uses the code of a link, `#/sign-in/CODE/SCREEN`, as soon as the page has it. */
export function watchSignInLinks(): void {
  effect(() => {
    const { screen, path } = route.value;
    if (screen !== 'sign-in') return;
    const [code, target = '', ...rest] = path;
    // The browser's history keeps no code.
    navigate(hrefOf(target, rest), { replace: true });
    if (code !== undefined && isSafeOrigin) untracked(() => void attempt(() => openLink(code)));
  });
}

/** Signs in with the link that the page asks about. */
export function acceptLink({ code, user }: AskedLink): Promise<void> {
  askedLink.value = undefined;
  return attempt(() => exchange(code, { isKept: false, expected: user.id }));
}

async function attempt(run: () => Promise<void>): Promise<void> {
  isSigningIn.value = true;
  signInFailure.value = undefined;
  try {
    await run();
  } catch (error) {
    signInFailure.value = error;
  }
  isSigningIn.value = false;
}

/** Any page can open a link, and would read what is done with a login that is its own. */
async function openLink(code: string): Promise<void> {
  askedLink.value = undefined;
  if (parseSecret(code) !== undefined)
    throw new Error('A link signs in with a one-time code, not with a key. To use a key, paste it here.');
  const found = await callAs(undefined, previewSession, { body: { code } }).catch((error: unknown) => {
    if (error instanceof ReceivedError && error.code === 'unauthenticated') return undefined;
    throw error;
  });
  if (found === undefined || found.is_only_user || found.user.id === lastUser())
    // A code that logs in no one is refused, and the second use of a link ends what the first one made.
    return await exchange(code, { isKept: false, expected: found?.user.id ?? '' });
  askedLink.value = { code, user: found.user };
}

interface ExchangeOptions {
  isKept: boolean;
  /** The id of the user whose login it has to be; without one, anyone's. */
  expected?: string;
}

async function exchange(code: string, { isKept, expected }: ExchangeOptions): Promise<void> {
  const body = { code, name: browserName(), kind: 'browser', keep: isKept } as const;
  const { secret, session, user } = await callAs(undefined, createSession, { body });
  if (expected !== undefined && user.id !== expected) {
    await callAs(secret, signOut, {});
    throw new Error('This link signs in another user. Open it again.');
  }
  // A link says itself whether the browser stays signed in.
  const lastsMs = Date.parse(session.expires_at ?? '') - Date.parse(session.created_at);
  rememberUser(user.id);
  signIn({ secret, isKept: lastsMs > dayMs, isOwn: true });
}

/** `Firefox on Linux`: what the list of logins shows. */
function browserName(): string {
  const { userAgent } = navigator;
  const browser = /(Firefox|Edg|Chrome|Safari)\//.exec(userAgent)?.[1] ?? 'Browser';
  const system = /(Windows|Mac OS|Android|iPhone|Linux)/.exec(userAgent)?.[1];
  return system === undefined ? browser : `${browser} on ${system}`;
}
