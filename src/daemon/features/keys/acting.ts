import type { LoginCaller } from '../../handler.ts';

const actingMax = 1000;

/** The name under which a member's time in a workspace can be ended, as a credential's can. */
export function membershipId(workspaceId: string, userId: string): string {
  return `${workspaceId} ${userId}`;
}

/** Logins as they act in another workspace than their own: what runs there ends with the login or the membership. */
export function actingLogins(signalOf: (id: string) => AbortSignal) {
  const acting = new Map<string, LoginCaller>();
  return {
    of(caller: LoginCaller, workspaceId: string): LoginCaller {
      const key = `${caller.loginId} ${workspaceId}`;
      const known = acting.get(key);
      if (known) return known;
      const ends = [signalOf(caller.loginId), signalOf(membershipId(workspaceId, caller.userId))];
      const made = { ...caller, workspaceId, revoked: AbortSignal.any(ends) };
      if (acting.size >= actingMax) acting.clear();
      acting.set(key, made);
      return made;
    },
    forget(workspaceId: string, userId: string): void {
      for (const [key, caller] of acting) {
        if (caller.workspaceId === workspaceId && caller.userId === userId) acting.delete(key);
      }
    },
  };
}
