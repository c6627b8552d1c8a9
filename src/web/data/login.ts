import { signal } from '@preact/signals';
import { isLoopback } from '../../shared/http/loopback.ts';

/**
 * The key that this tab sends: of a login, or an API key. It is never in a cookie, as browsers send the cookies of
 * 127.0.0.1 to the servers of all its ports. Storage is separated by port, and no request carries it by itself.
 */
export interface Login {
  secret: string;
  /** Whether it outlives the tab. */
  isKept: boolean;
  /** Whether it was made for this browser by a link: signing out ends it. A pasted key may have other users. */
  isOwn: boolean;
  /** The workspace that the tab looks at, by its id; without one, the login's own. */
  workspace?: string | undefined;
}

type Stored = Omit<Login, 'isKept'>;
type Message = { type: 'ask' } | ({ type: 'login' } & Stored) | { type: 'sign-out' };

const storageKey = 'gateway.login';
/** How long other tabs have to answer. */
const askMs = 150;

const userKey = 'gateway.user';

/** `unknown` until other tabs had the time to answer. */
export const login = signal<Login | undefined | 'unknown'>(stored() ?? 'unknown');

/** Why the last login ended, to be shown where one signs in. */
export const loginNotice = signal('');

const tabs = new BroadcastChannel('gateway.login');
const send = (message: Message): void => tabs.postMessage(message);

tabs.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  const known = login.value;
  if (data.type === 'ask') {
    if (known !== undefined && known !== 'unknown') {
      const { isKept, ...shared } = known;
      send({ type: 'login', ...shared });
    }
  } else if (data.type === 'login') {
    if (known === undefined || known === 'unknown') {
      const { type, ...shared } = data;
      signIn({ ...shared, isKept: false });
    }
  } else forget('You signed out in another tab.');
});

if (login.value === 'unknown') {
  send({ type: 'ask' });
  setTimeout(() => {
    if (login.value === 'unknown') login.value = undefined;
  }, askMs);
}

function stored(): Login | undefined {
  const own = sessionStorage.getItem(storageKey);
  const text = own ?? localStorage.getItem(storageKey);
  if (text === null) return undefined;
  // Only this module writes it.
  return { ...(JSON.parse(text) as Stored), isKept: own === null };
}

/** Uses a key from now on, in this tab, and in tabs that open later. */
export function signIn(known: Login): void {
  const { isKept, ...shared } = known;
  clearStorage();
  (isKept ? localStorage : sessionStorage).setItem(storageKey, JSON.stringify(shared));
  loginNotice.value = '';
  login.value = known;
}

/** The id of the user whom this browser signed in last, also after they signed out. */
export const lastUser = (): string | undefined => localStorage.getItem(userKey) ?? undefined;

/** Undefined for a key, which has no user of its own. */
export function rememberUser(id: string | undefined): void {
  if (id === undefined) localStorage.removeItem(userKey);
  else localStorage.setItem(userKey, id);
}

/** Forgets the key in all tabs. */
export function signOut(notice = ''): void {
  send({ type: 'sign-out' });
  forget(notice);
}

/** Forgets a key that the daemon no longer accepts, unless another one is used by now. */
export function loginEnded(secret: string): void {
  const known = login.value;
  if (known !== undefined && known !== 'unknown' && known.secret === secret)
    forget('Your login has ended. Sign in again.');
}

/** Goes back to the login's own workspace. */
export function workspaceEnded(secret: string): void {
  const known = login.value;
  if (known !== undefined && known !== 'unknown' && known.secret === secret && known.workspace !== undefined)
    signIn({ ...known, workspace: undefined });
}

function forget(notice: string): void {
  clearStorage();
  loginNotice.value = notice;
  login.value = undefined;
}

function clearStorage(): void {
  sessionStorage.removeItem(storageKey);
  localStorage.removeItem(storageKey);
}

/**
 * Whether a key may be entered here: over plain HTTP, others on the network could read it, unless the daemon is on this
 * machine.
 */
export const isSafeOrigin = location.protocol === 'https:' || isLoopback(location.hostname);
