import type { CountInputTokensBody } from '../../../../../shared/contract/input-tokens.ts';
import type { CountMessageTokensBody } from '../../../../../shared/contract/messages.ts';
import { RelayReply } from '../../../../base/handler.ts';
import { checkAction, type ModelCall, policyOf } from '../../../calls/index.ts';
import { subscriptionIn } from '../../../upstreams/subscription.ts';
import { type MessageHeaders, parsePrompt } from '../../formats/messages/parse.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import { type Planned, planOnly } from './plan-only.ts';
import { readRequest, withDefaultModel } from './read-request.ts';
import { responsesEndpoint } from './respond.ts';

type CountCall<B> = Pick<ModelCall, 'caller' | 'signal'> & { body: B };

/** Counts the input of a call in the Messages format. */
export async function countMessageTokensReply(
  deps: InferenceDeps,
  call: CountCall<CountMessageTokensBody> & { headers: MessageHeaders },
): Promise<RelayReply> {
  const { caller, body, headers } = call;
  checkAction(policyOf(caller), '/v1/messages');
  const inference = parsePrompt(body, headers, (sealed) => deps.sealer.open(caller.workspaceId, sealed));
  return countReply(deps, { ...call, inference, options: {} }, {});
}

/** Counts the input of a call in the Responses format, with the response that it continues. */
export async function countInputTokensReply(
  deps: InferenceDeps,
  call: CountCall<CountInputTokensBody>,
): Promise<RelayReply> {
  checkAction(policyOf(call.caller), responsesEndpoint);
  const body = { ...withDefaultModel(deps, call.body), stream: false };
  const request = await readRequest(deps, { body, caller: call.caller });
  return countReply(deps, { ...call, ...request }, { object: 'response.input_tokens' });
}

type Counted = Planned & Pick<ModelCall, 'signal'> & { headers?: MessageHeaders };

/**
 * Counts the input tokens of a call that a key could make: by the best provider where it can, else by an estimate, which a
 * header marks. Fails like the call itself for its key, its model and its contents.
 */
async function countReply(
  deps: InferenceDeps,
  { caller, inference, options, signal, headers }: Counted,
  members: { object?: string },
): Promise<RelayReply> {
  const subscription = subscriptionIn(headers, inference.wire);
  const { routes, input } = await planOnly(deps, { caller, inference, options }, subscription);
  const { settings, guardrails } = deps;
  const sent = settings.guardrails.isUsed ? guardrails.counted(inference, routes) : inference;
  const counted = await deps.router.countInput({ routes, inference: sent, signal });
  return new RelayReply(
    counted === undefined ? { 'x-service-estimated': 'true' } : {},
    JSON.stringify({ ...members, input_tokens: counted ?? input.likely }),
  );
}
