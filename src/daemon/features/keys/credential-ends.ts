import { ApiError } from '../../../shared/errors.ts';
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

export function expired(): ApiError {
  return new ApiError('limit_reached', { param: 'limits.expires_at', message: 'This key has expired.' });
}

/** By which secret a key calls. */
interface UsedSecret {
  digest: string;
  /** Of one that was replaced. */
  endsAt?: number;
}

/**
 * One abort signal per credential, and for keys per secret, for the lifetime of the process. If it were dropped with its caller, a
 * lookup that races a revocation could restore the credential, and a running stream could miss its end.
 */
export function revocationSignals() {
  const controllers = new Map<string, AbortController>();
  const secrets = new Map<string, Map<string, AbortController>>();
  const ending = new Map<AbortController, number>();
  const controllerIn = (known: Map<string, AbortController>, id: string): AbortController => {
    let controller = known.get(id);
    if (!controller) {
      controller = new AbortController();
      known.set(id, controller);
    }
    return controller;
  };
  const secretsOf = (keyId: string): Map<string, AbortController> => {
    const known = secrets.get(keyId) ?? new Map<string, AbortController>();
    secrets.set(keyId, known);
    return known;
  };
  const endNow = (controller: AbortController, error: ApiError): void => {
    ending.delete(controller);
    controller.abort(error);
  };
  /** Ends what runs with any secret of a key; later calls with them get new signals. */
  const endAllSecrets = (keyId: string, error: ApiError): void => {
    for (const controller of secrets.get(keyId)?.values() ?? []) endNow(controller, error);
    secrets.delete(keyId);
  };
  return {
    /** Of a credential; for a caller that gave a secret of a key, it also ends with the secret. */
    signalOf: (id: string, secret?: UsedSecret): AbortSignal => {
      const isRevoked = controllers.get(id)?.signal.aborted;
      if (secret === undefined || isRevoked) return controllerIn(controllers, id).signal;
      const controller = controllerIn(secretsOf(id), secret.digest);
      if (secret.endsAt !== undefined && !controller.signal.aborted) ending.set(controller, secret.endsAt);
      return controller.signal;
    },
    revoke: (id: string): void => {
      controllerIn(controllers, id).abort(new ApiError('unauthenticated'));
      endAllSecrets(id, new ApiError('unauthenticated'));
    },
    /** Ends what runs now; later calls are accepted. */
    end: (id: string): void => {
      const controller = controllers.get(id);
      controllers.delete(id);
      controller?.abort(new ApiError('unauthenticated'));
    },
    /** Ends what runs with a key now; once it is extended or resumed, it is accepted again. */
    endCalls: (keyId: string, error: ApiError): void => {
      const controller = controllers.get(keyId);
      if (controller?.signal.aborted) return;
      controllers.delete(keyId);
      controller?.abort(error);
      endAllSecrets(keyId, error);
    },
    /** Ends all secrets of a key, for good, but those with these digests, which end later or never. */
    endSecrets: (keyId: string, working: ReadonlyMap<string, number | undefined>): void => {
      for (const [digest, controller] of secrets.get(keyId) ?? []) {
        const endsAt = working.get(digest);
        if (!working.has(digest)) endNow(controller, new ApiError('unauthenticated'));
        else if (endsAt !== undefined) ending.set(controller, endsAt);
      }
    },
    /** Ends what runs with secrets that were replaced and have ended by this time. */
    endSecretsBy: (at: number): void => {
      for (const [controller, endsAt] of ending)
        if (endsAt <= at) endNow(controller, new ApiError('unauthenticated'));
    },
  };
}

export type SignalOf = ReturnType<typeof revocationSignals>['signalOf'];
