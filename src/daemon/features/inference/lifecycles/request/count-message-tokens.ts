import type { CountMessageTokensBody } from '../../../../../shared/contract/messages.ts';
import { RelayReply } from '../../../../handler.ts';
import { type MessageHeaders, parsePrompt } from '../../formats/messages/parse.ts';
import type { ModelCall } from '../../pipeline/call-observer.ts';
import { capableRoutes } from '../../pipeline/capable-routes.ts';
import { checkAction, enforceKeyPolicy, policyOf } from '../../pipeline/key-policy.ts';
import { inputTokens } from '../../pricing/cost-bound.ts';
import type { InferenceDeps } from '../inference-deps.ts';

export type CountTokensCall = Pick<ModelCall, 'caller' | 'signal'> & {
  body: CountMessageTokensBody;
  headers: MessageHeaders;
};

/**
 * Counts the input tokens of a call that a key could make: by the best provider where it can, else by an estimate, which a
 * header marks. Fails like the call itself for its key, its model and its contents.
 */
export async function countMessageTokensReply(
  deps: InferenceDeps,
  { body, headers, caller, signal }: CountTokensCall,
): Promise<RelayReply> {
  checkAction(policyOf(caller), '/v1/messages');
  const { workspaceId } = caller;
  const inference = parsePrompt(body, headers, (sealed) => deps.sealer.open(workspaceId, sealed));
  const policy = enforceKeyPolicy(deps, { caller, inference, options: {} });
  const input = inputTokens(inference);
  const options = { cache: 'off' } as const;
  const planned = await deps.router.plan({
    inference,
    inputTokensMax: input.most,
    options,
    workspaceId,
    ...policy,
  });
  const routes = capableRoutes(planned, inference, input.most);
  const counted = await deps.router.countInput({ routes, inference, signal });
  return new RelayReply(
    counted === undefined ? { 'x-service-estimated': 'true' } : {},
    JSON.stringify({ input_tokens: counted ?? input.likely }),
  );
}
