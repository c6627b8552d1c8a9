import type { LoginCaller } from '../../handler.ts';
import type { LoginRecord } from '../workspaces/index.ts';

interface IdleLoginsDeps {
  revoke: (loginId: string) => void;
  /** What expiries are compared with. */
  passed: { at(): number; noteExpiry(expiry: number): void };
}

/** Ends logins that were not used for the time that they may idle. */
export function createIdleLogins({ revoke, passed }: IdleLoginsDeps) {
  const watched = new WeakMap<LoginCaller, { usedAt: number; idleMs: number }>();
  return {
    watch(
      caller: LoginCaller,
      { idleMs, lastUsedAt, createdAt }: Pick<LoginRecord, 'idleMs' | 'lastUsedAt' | 'createdAt'>,
    ): void {
      if (idleMs !== null) watched.set(caller, { usedAt: lastUsedAt ?? createdAt, idleMs });
    },

    /** Whether this daemon has not seen the login for the time that it may idle; another one may have. */
    isOverdue(caller: LoginCaller): boolean {
      const login = watched.get(caller);
      return login !== undefined && login.usedAt + login.idleMs <= passed.at();
    },

    /** Notes a use. A login that was idle for too long is revoked, also for streams that run with it. */
    use(caller: LoginCaller): void {
      const login = watched.get(caller);
      if (login === undefined) return;
      const expiry = login.usedAt + login.idleMs;
      const now = passed.at();
      if (expiry > now) {
        login.usedAt = Math.max(login.usedAt, now);
        return;
      }
      passed.noteExpiry(expiry);
      revoke(caller.loginId);
    },
  };
}

export type IdleLogins = ReturnType<typeof createIdleLogins>;
