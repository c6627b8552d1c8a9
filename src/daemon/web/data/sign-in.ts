import { effect, signal } from '@preact/signals';
import { parseSecret } from '../../../shared/secrets.ts';
import { callAs } from './api.ts';
import { createSession, getKey } from './endpoints.ts';
import { isSafeOrigin, signIn } from './login.ts';
import { hrefOf, navigate, route } from './route.ts';

export const isSigningIn = signal(false);

/** Why the last attempt failed. */
export const signInFailure = signal<unknown>(undefined);

const dayMs = 24 * 60 * 60 * 1000;

/** Signs in with an API key, or with the code of a link or a login. */
export async function signInWith(text: string, isKept: boolean): Promise<void> {
  isSigningIn.value = true;
  signInFailure.value = undefined;
  try {
    await exchange(text, isKept);
  } catch (error) {
    signInFailure.value = error;
  }
  isSigningIn.value = false;
}

/** Uses the code of a link, `#/sign-in/CODE/SCREEN`, as soon as the page has it. */
export function watchSignInLinks(): void {
  effect(() => {
    const { screen, path } = route.value;
    if (screen !== 'sign-in') return;
    const [code, target = '', ...rest] = path;
    // The browser's history keeps no code.
    navigate(hrefOf(target, rest), { replace: true });
    if (code !== undefined && isSafeOrigin) void signInWith(code, false);
  });
}

async function exchange(text: string, isKept: boolean): Promise<void> {
  if (parseSecret(text) !== undefined) {
    await callAs(text, getKey, {});
    signIn({ secret: text, isKept, isOwn: false });
    return;
  }
  const body = { code: text, name: browserName(), kind: 'browser', keep: isKept } as const;
  const { secret, session } = await callAs(undefined, createSession, { body });
  // A link says itself whether the browser stays signed in.
  const lastsMs = Date.parse(session.expires_at ?? '') - Date.parse(session.created_at);
  signIn({ secret, isKept: lastsMs > dayMs, isOwn: true });
}

/** `Firefox on Linux`: what the list of logins shows. */
function browserName(): string {
  const { userAgent } = navigator;
  const browser = /(Firefox|Edg|Chrome|Safari)\//.exec(userAgent)?.[1] ?? 'Browser';
  const system = /(Windows|Mac OS|Android|iPhone|Linux)/.exec(userAgent)?.[1];
  return system === undefined ? browser : `${browser} on ${system}`;
}
