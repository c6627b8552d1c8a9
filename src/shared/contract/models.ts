import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { Count, everyone, nullable, otherParameters, Usd } from './vocabulary.ts';

/** A provider's prices, in dollars per million tokens. */
export const PricesView = Type.Object(
  {
    input: Usd,
    cached_input: Usd,
    cache_write: Usd,
    output: Usd,
    audio_input: Type.Optional(Usd),
    cached_audio: Type.Optional(Usd),
    audio_output: Type.Optional(Usd),
    image_output: Type.Optional(Usd),
    fees: Type.Optional(
      Type.Object(
        { web_search: Type.Optional(Usd), file_search: Type.Optional(Usd) },
        { description: 'Price of one use of a tool that the provider runs itself.' },
      ),
    ),
  },
  {
    $id: 'Prices',
    description:
      'The provider’s prices, in dollars per million tokens. Audio and image prices are present where they differ from those of text.',
  },
);

const Milliseconds = Type.Number({ minimum: 0, description: 'Milliseconds until the first token.' });

/** Measurements of this daemon in the window. Values without measurements are null. */
export const LiveView = Type.Object(
  {
    window: Type.Literal('1h'),
    attempts: Count,
    uptime: Type.Number({ minimum: 0, maximum: 1, description: 'The share of successful attempts.' }),
    ttft_ms_p50: nullable(Milliseconds),
    ttft_ms_p90: nullable(Milliseconds),
    tokens_per_second_p50: nullable(Type.Number({ minimum: 0 })),
  },
  {
    $id: 'LiveSpeed',
    description: 'Measurements of this daemon in the window; null without any.',
  },
);

/** Capabilities of a model; null if unknown, in which case requests are tried. */
export const CapabilitiesView = Type.Object(
  {
    kind: nullable(
      Type.Enum(['chat', 'embedding', 'decision'], {
        description:
          '`chat`: for `/v1/responses`, `/v1/chat/completions` and `/v1/messages`. `embedding`: for `/v1/embeddings`. `decision`: for `/v1/decisions` only; chat models answer those, too.',
      }),
    ),
    input_modalities: Type.Array(
      Type.String({ description: '`text`, `image`, `file`, `audio` or `video`.' }),
    ),
    output_modalities: Type.Array(
      Type.String({ description: '`text`, `image` or `audio`; `embeddings` for vectors.' }),
    ),
    tools: nullable(Type.Boolean()),
    parallel_tools: nullable(Type.Boolean()),
    structured_output: nullable(Type.Boolean()),
    reasoning: nullable(Type.Boolean()),
    logprobs: nullable(Type.Boolean()),
  },
  {
    $id: 'Capabilities',
    description: 'Null if unknown; requests that need it are then tried.',
  },
);

/** A provider of the model, whether or not it is currently available. */
export const ModelProvider = Type.Object(
  {
    provider: Type.String(),
    model: Type.String({ description: 'The provider’s name for the model.' }),
    available: Type.Boolean(),
    reason: nullable(Type.String({ description: 'Why it is unavailable, and how to change that.' })),
    prices: nullable(PricesView),
    live: nullable(LiveView),
  },
  { $id: 'ModelProvider' },
);

/** A model in the common list format, with the gateway's additions under `service`. */
export const ModelEntry = Type.Object(
  {
    id: Type.String({ description: 'The value for `model`: `family/name`.' }),
    object: Type.Literal('model'),
    created: Type.Integer({
      minimum: 0,
      description:
        'When the model was published, in Unix seconds; where that is unknown, when this host was set up.',
    }),
    owned_by: Type.String(),
    context_length: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'The same as in `service`, where clients of OpenRouter and others look for it; absent if it is unknown.',
      }),
    ),
    max_output_tokens: Type.Optional(
      Type.Integer({ minimum: 0, description: 'The same as in `service`; absent if it is unknown.' }),
    ),
    service: Type.Object({
      name: Type.String({ description: 'A display name.' }),
      description: nullable(Type.String()),
      available: Type.Optional(
        Type.Boolean({ description: 'Of decision models: whether a decision can be made now.' }),
      ),
      reason: Type.Optional(
        nullable(Type.String({ description: 'Of decision models: why not, and what to set.' })),
      ),
      context_length: nullable(Type.Integer({ minimum: 0, description: 'In tokens.' })),
      max_output_tokens: nullable(Count),
      capabilities: CapabilitiesView,
      providers: Type.Array(ModelProvider),
      prices: nullable(PricesView),
      live: nullable(LiveView),
    }),
  },
  { $id: 'Model' },
);

const otherwise = 'Without `anthropic-version` it has no effect.';

function cursor(side: 'after' | 'before') {
  const description = `Only models ${side} the one with this id, in Anthropic’s format. ${otherwise}`;
  return Type.String({ minLength: 1, maxLength: 256, description });
}

export const listModels = endpoint({
  id: 'listModels',
  method: 'GET',
  path: '/v1/models',
  summary: 'List models.',
  description:
    'The models that the caller can use now, in the common format: those that the limits of its key allow, of providers that have a key, also one of the workspace’s own, or are local and running. `all=true` lists the others, too, after them. `service` contains each model’s providers, capabilities, prices and live speed. Requests with the header `anthropic-version` get Anthropic’s format, in pages, with the models for `/v1/messages`.',
  tag: 'Models',
  access: everyone,
  query: Type.Object(
    {
      all: Type.Optional(
        Type.Boolean({ description: 'Whether to list also the models that the caller cannot use now.' }),
      ),
      after: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 256,
          description: 'Only the models after the one with this `id`. Without it, the list is complete.',
        }),
      ),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1000,
          description: `Page size in Anthropic’s format; default 20. ${otherwise}`,
        }),
      ),
      after_id: Type.Optional(cursor('after')),
      before_id: Type.Optional(cursor('before')),
    },
    otherParameters,
  ),
  result: Type.Object({ object: Type.Literal('list'), data: Type.Array(ModelEntry) }),
});

export const getModel = endpoint({
  id: 'getModel',
  method: 'GET',
  path: '/v1/models/{model...}',
  summary: 'Get a model.',
  description: 'Requests with the header `anthropic-version` get Anthropic’s format.',
  tag: 'Models',
  access: everyone,
  params: Type.Object({
    model: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Any name that model calls accept; slashes need no encoding.',
    }),
  }),
  result: ModelEntry,
  errors: ['model_not_found'],
});

/** The result of refreshing one provider's models. */
export const RefreshedProvider = Type.Object(
  {
    provider: Type.String(),
    models: Type.Integer({ minimum: 0, description: 'The number of models it offers now.' }),
    models_before: Type.Integer({ minimum: 0 }),
    added: Type.Array(Type.String(), {
      maxItems: 100,
      description: 'Its names of models that it did not list before; none at its first list.',
    }),
    error: nullable(
      Type.String({ description: 'Why it could not be queried, or why its list was not used; for people.' }),
    ),
  },
  { $id: 'RefreshedProvider' },
);

export const refreshModels = endpoint({
  id: 'refreshModels',
  method: 'POST',
  path: '/v1/admin/models/refresh',
  summary: 'Refresh the model list from the providers.',
  description:
    'Queries every provider the host has a key for. The result replaces the previous list and is kept across restarts. A provider keeps its previous list if it cannot be queried, or if it suddenly lists nothing or less than half, until it confirms the new list.',
  tag: 'Models',
  access: { login: 'owner', loginOnly: true },
  result: Type.Object({ object: Type.Literal('list'), data: Type.Array(RefreshedProvider) }),
});

export type RefreshedProvider = Static<typeof RefreshedProvider>;
export type ModelEntry = Static<typeof ModelEntry>;
export type ModelProvider = Static<typeof ModelProvider>;
export type PricesView = Static<typeof PricesView>;
export type LiveView = Static<typeof LiveView>;
export type CapabilitiesView = Static<typeof CapabilitiesView>;
