import type { CreateResponseBody } from '../../../../../shared/contract/responses.ts';
import type { KeyCaller, LoginCaller } from '../../../../handler.ts';
import { defaultsOf } from '../../pipeline/restraints.ts';
import type { InferenceDeps } from '../../pipeline/start-call.ts';

/**
 * A body that says whether its response is stored: as it was sent, else as its key has it, else as the host does. What runs in the
 * background is stored in any case.
 */
export function withStore<B extends Pick<CreateResponseBody, 'store' | 'background'>>(
  { storesResponses }: Pick<InferenceDeps, 'storesResponses'>,
  caller: KeyCaller | LoginCaller,
  body: B,
): B {
  if (typeof body.store === 'boolean' || body.background === true) return body;
  const store = defaultsOf(caller)?.store ?? storesResponses;
  return store ? body : { ...body, store };
}
