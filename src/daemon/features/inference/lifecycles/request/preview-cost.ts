import type { CreateChatCompletionBody } from '../../../../../shared/contract/chat-completions.ts';
import type { CostPreview } from '../../../../../shared/contract/cost-preview.ts';
import type { CreateEmbeddingBody } from '../../../../../shared/contract/embeddings.ts';
import type { CreateMessageBody } from '../../../../../shared/contract/messages.ts';
import type { CreateResponseBody } from '../../../../../shared/contract/responses.ts';
import { formatUsd } from '../../../../../shared/money/money.ts';
import type { Identified } from '../../../../base/handler.ts';
import { checkAction, parseServiceOptions, policyOf, wholeOutput } from '../../../calls/index.ts';
import { parseChat } from '../../formats/chat-completions/parse.ts';
import { parseEmbeddings } from '../../formats/embeddings.ts';
import { type MessageHeaders, parseMessagesCall } from '../../formats/messages/parse.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import { type Planned, planOnly } from './plan-only.ts';
import { readRequest, withDefaultModel } from './read-request.ts';
import { responsesEndpoint } from './respond.ts';

export async function previewResponseCost(
  deps: InferenceDeps,
  caller: Identified,
  given: Omit<CreateResponseBody, 'model'> & { model?: string | null },
): Promise<CostPreview> {
  checkAction(policyOf(caller), responsesEndpoint);
  const body = withDefaultModel(deps, given);
  return previewCost(deps, { caller, ...(await readRequest(deps, { body, caller })) });
}

export async function previewChatCost(
  deps: InferenceDeps,
  caller: Identified,
  body: CreateChatCompletionBody,
): Promise<CostPreview> {
  checkAction(policyOf(caller), '/v1/chat/completions');
  const inference = parseChat(body, (sealed) => deps.sealer.open(caller.workspaceId, sealed));
  return previewCost(deps, { caller, inference, options: parseServiceOptions(body.service) });
}

export async function previewMessageCost(
  deps: InferenceDeps,
  caller: Identified,
  { body, headers }: { body: CreateMessageBody; headers: MessageHeaders },
): Promise<CostPreview> {
  checkAction(policyOf(caller), '/v1/messages');
  const inference = parseMessagesCall(body, headers, (sealed) =>
    deps.sealer.open(caller.workspaceId, sealed),
  );
  return previewCost(deps, { caller, inference, options: parseServiceOptions(body.service) });
}

export async function previewEmbeddingCost(
  deps: InferenceDeps,
  caller: Identified,
  body: CreateEmbeddingBody,
): Promise<CostPreview> {
  checkAction(policyOf(caller), '/v1/embeddings');
  const inference = parseEmbeddings(body);
  return previewCost(deps, { caller, inference, options: parseServiceOptions(body.service) });
}

/** The bound that admission would reserve for the call, if its caller could pay for all of it. */
async function previewCost(deps: InferenceDeps, call: Planned): Promise<CostPreview> {
  const { routes, input } = await planOnly(deps, call);
  const [best] = routes;
  if (!best) throw new TypeError('a plan has at least one route');
  const bound = { inputTokens: input.most, marginPpm: deps.settings.marginPpm };
  const charged = wholeOutput(routes, call.inference, bound);
  const asIfCharged = routes.map((route) => ({ ...route, ownKey: false as const }));
  const isKnown = routes.every(({ offer }) => offer.prices);
  return {
    object: 'cost.preview',
    model: best.offer.model,
    provider: best.provider,
    input_tokens: input.likely,
    output_tokens_max: charged.outputTokensBound,
    cost_usd_max: isKnown ? formatUsd(wholeOutput(asIfCharged, call.inference, bound).amount) : null,
    charged_usd_max: formatUsd(charged.amount),
  };
}
