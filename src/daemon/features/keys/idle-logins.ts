import type { LoginCaller } from '../../base/handler.ts';
import type { LoginRecord } from '../workspaces/index.ts';

interface IdleLoginsDeps {
  revoke: (loginId: string) => void;
  /** What expiries are compared with. */
  passed: { at(): number; sure(): number; noteExpiry(id: string, expiry: number): void };
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

    /** Whether it has really ended, whatever a clock that may be wrong shows. */
    isOver(caller: LoginCaller): boolean {
      const login = watched.get(caller);
      return login !== undefined && login.usedAt + login.idleMs <= passed.sure();
    },

    /** Notes a use. Returns false for a login that was idle for too long, which is revoked, also for streams that run with it. */
    use(caller: LoginCaller, at: number): boolean {
      const login = watched.get(caller);
      if (login === undefined) return true;
      const expiry = login.usedAt + login.idleMs;
      if (expiry > at) {
        login.usedAt = Math.max(login.usedAt, at);
        return true;
      }
      passed.noteExpiry(caller.loginId, expiry);
      if (expiry <= passed.sure()) revoke(caller.loginId);
      return false;
    },
  };
}

export type IdleLogins = ReturnType<typeof createIdleLogins>;
