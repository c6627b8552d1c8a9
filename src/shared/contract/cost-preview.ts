import { type Static, type TSchema, Type } from 'typebox';
import { CreateChatCompletionBody } from './chat-completions.ts';
import { CreateEmbeddingBody } from './embeddings.ts';
import { endpoint } from './endpoint.ts';
import { CreateMessageBody } from './messages.ts';
import { modelCallBodyLimit, modelCallErrors } from './model-call.ts';
import { CreateResponseRequest } from './responses.ts';
import { Count, nullable, Usd } from './vocabulary.ts';

/** What a call would cost at most. */
export const CostPreview = Type.Object(
  {
    object: Type.Literal('cost.preview'),
    model: Type.String({ description: 'The model of the best route.' }),
    provider: Type.String({ description: 'The provider of the best route.' }),
    input_tokens: Type.Integer({ minimum: 0, description: 'Estimated.' }),
    output_tokens_max: Count,
    cost_usd_max: nullable(
      Type.String({
        description:
          'The upper bound of the cost on any route, also with your own provider key; null if the price of one is unknown.',
      }),
    ),
    charged_usd_max: Usd,
  },
  { $id: 'CostPreview' },
);

const preview = <const Id extends string, const Path extends `/v1/preview/${string}`, Body extends TSchema>(
  id: Id,
  path: Path,
  body: Body,
) =>
  endpoint({
    id,
    method: 'POST',
    path,
    summary: `Preview the cost of a call of \`${path.replace('/preview', '')}\`.`,
    description:
      'The most that the same body would cost as a call, which is not made: the bound that is reserved when a call is admitted. Fails like the call itself for its key, its model and its contents; spending limits and balances are not checked. Free of charge.',
    tag: 'Model calls',
    access: { apiKey: 'responses', login: 'any', agent: true },
    unauthorizedType: 'unauthorized',
    body,
    bodyRequired: true,
    bodyLimit: modelCallBodyLimit,
    result: CostPreview,
    errors: [...modelCallErrors, 'previous_response_not_found'],
  });

export const previewResponse = preview('previewResponse', '/v1/preview/responses', CreateResponseRequest);
export const previewChatCompletion = preview(
  'previewChatCompletion',
  '/v1/preview/chat/completions',
  CreateChatCompletionBody,
);
export const previewMessage = preview('previewMessage', '/v1/preview/messages', CreateMessageBody);
export const previewEmbedding = preview('previewEmbedding', '/v1/preview/embeddings', CreateEmbeddingBody);

export type CostPreview = Static<typeof CostPreview>;
