import type { Endpoint } from '../../../shared/contract/endpoint.ts';
import { ApiError } from '../../../shared/errors.ts';
import { inWords } from '../../../shared/text/in-words.ts';
import type { Caller } from '../../base/handler.ts';

/** Fails if the endpoint's contract does not allow this kind of caller. Roles are checked by the feature. */
export function checkAccess({ access, surface }: Endpoint, caller: Caller): void {
  if (access.loginOnly && caller.kind !== 'login') throw new ApiError('signed_out');
  switch (caller.kind) {
    case 'anonymous':
      if (!access.anonymous) throw new ApiError('unauthenticated');
      return;
    case 'key': {
      const { apiKey } = access;
      if (apiKey === undefined) throw notFor('API keys');
      if (apiKey === 'any') return;
      const scopes = typeof apiKey === 'string' ? [apiKey] : apiKey;
      if (!scopes.some((scope) => caller.scopes.has(scope))) {
        throw new ApiError('out_of_scope', {
          message: `The key lacks the scope ${inWords(scopes.map((scope) => `\`${scope}\``))}.`,
        });
      }
      return;
    }
    case 'token': {
      const { token } = access;
      // The /v1 API accepts no tokens; the site API accepts all of them and checks their abilities.
      if (token === undefined) throw new ApiError(surface === 'site' ? 'permission' : 'unauthenticated');
      if (token === 'any' || caller.abilities.has('*') || caller.abilities.has(token)) return;
      throw new ApiError('permission', { message: `The token lacks the ability \`${token}\`.` });
    }
    case 'agent':
      if (!access.agent) throw notFor('agents');
      return;
    case 'autopilot':
      if (access.login !== 'any') throw notFor('autopilots');
      return;
    case 'login':
      if (access.login === undefined) throw new ApiError('permission');
  }
}

/** On the site API, whose 403 has one sentence, the reason is only in events and the log. */
function notFor(callers: string): ApiError {
  return new ApiError('permission', { message: `This endpoint is not available to ${callers}.` });
}
