import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import {
  CallHeaders,
  idempotencyHeaders,
  ModelName,
  modelCallBodyLimit,
  modelCallErrors,
  modelCallHeaders,
} from './model-call.ts';
import { ServiceAnswer, ServiceMember } from './service-member.ts';
import { dollars, maybe, nullable } from './vocabulary.ts';

/** The embeddings format. Source: OpenAI's API reference. Additional members are allowed. */

/** Inputs of one call. Source: OpenAI's API reference. */
const inputCount = { minItems: 1, maxItems: 2048 };

const Token = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 });

export const CreateEmbeddingBody = Type.Object(
  {
    model: ModelName,
    input: Type.Union(
      [
        Type.String({ minLength: 1 }),
        Type.Array(Type.String({ minLength: 1 }), inputCount),
        Type.Array(Token, { minItems: 1 }),
        Type.Array(Type.Array(Token, { minItems: 1 }), inputCount),
      ],
      {
        description: `A text, up to ${inputCount.maxItems} texts, or one or several texts as tokens of the model’s vocabulary.`,
      },
    ),
    dimensions: maybe(
      Type.Integer({ minimum: 1, maximum: 65_536, description: 'The length of the vectors.' }),
    ),
    encoding_format: maybe(
      Type.Enum(['float', 'base64'], {
        description: '`base64`: the vector as little-endian 32-bit floats. Default `float`.',
      }),
    ),
    user: maybe(Type.String()),
    service: maybe(ServiceMember),
  },
  {
    $id: 'CreateEmbedding',
    additionalProperties: true,
    description: 'Additional members are passed on to providers that speak this format.',
  },
);

export type CreateEmbeddingBody = Static<typeof CreateEmbeddingBody>;

export const EmbeddingList = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(
      Type.Object({
        object: Type.Literal('embedding'),
        index: Type.Integer({ minimum: 0, description: 'The position of the input.' }),
        embedding: Type.Union([Type.Array(Type.Number()), Type.String()], {
          description: 'Numbers, or base64 with `encoding_format: "base64"`.',
        }),
      }),
    ),
    model: Type.String(),
    usage: Type.Object({
      prompt_tokens: Type.Integer({ minimum: 0 }),
      total_tokens: Type.Integer({ minimum: 0 }),
      cost_usd: nullable(dollars('The cost of the call; null if the price is unknown.')),
    }),
    service: ServiceAnswer,
  },
  { $id: 'EmbeddingList' },
);

export type EmbeddingList = Static<typeof EmbeddingList>;

export const createEmbedding = endpoint({
  id: 'createEmbedding',
  method: 'POST',
  path: '/v1/embeddings',
  summary: 'Create embeddings.',
  description: [
    'Returns a vector for each input, in the order of the inputs. More inputs than a provider accepts at once are sent in',
    'several requests; if one fails, the call fails and costs nothing. `sim/embedding`, the built-in simulator, works',
    'without a network: its unit vectors are hashed from words and parts of words, so that similar texts have similar vectors.',
  ].join(' '),
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  unauthorizedType: 'unauthorized',
  payable: true,
  headers: CallHeaders,
  body: CreateEmbeddingBody,
  bodyRequired: true,
  bodyLimit: modelCallBodyLimit,
  result: EmbeddingList,
  responseHeaders: { ...modelCallHeaders, ...idempotencyHeaders },
  errors: modelCallErrors,
});
