import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { Count, everyone, nullable, Usd } from './vocabulary.ts';

/** What a provider takes, in dollars per million tokens. */
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
        { description: 'For one use of a tool that the provider runs itself.' },
      ),
    ),
  },
  {
    $id: 'Prices',
    description:
      'What the provider takes, in dollars per million tokens. Prices of sound and pictures are there where they are not those of text.',
  },
);

const Milliseconds = Type.Number({ minimum: 0, description: 'Milliseconds until the first token.' });

/** What was measured here in the window. Numbers that nothing has been measured for are null. */
export const LiveView = Type.Object(
  {
    window: Type.Literal('1h'),
    attempts: Count,
    uptime: Type.Number({ minimum: 0, maximum: 1, description: 'The part of the attempts that went well.' }),
    ttft_ms_p50: nullable(Milliseconds),
    ttft_ms_p90: nullable(Milliseconds),
    tokens_per_second_p50: nullable(Type.Number({ minimum: 0 })),
  },
  {
    $id: 'LiveSpeed',
    description: 'What this daemon measured in the window; null where it measured nothing.',
  },
);

/** What a model can do; null where nobody knows, which does not keep a request from being tried. */
export const CapabilitiesView = Type.Object(
  {
    input_modalities: Type.Array(
      Type.String({ description: '`text`, `image`, `file`, `audio` or `video`.' }),
    ),
    output_modalities: Type.Array(Type.String()),
    tools: nullable(Type.Boolean()),
    parallel_tools: nullable(Type.Boolean()),
    structured_output: nullable(Type.Boolean()),
    reasoning: nullable(Type.Boolean()),
    logprobs: nullable(Type.Boolean()),
  },
  {
    $id: 'Capabilities',
    description: 'Null where nobody knows; a request that needs it is then tried all the same.',
  },
);

/** One provider that has the model, whether or not it can be called now. */
export const ModelProvider = Type.Object(
  {
    provider: Type.String(),
    model: Type.String({ description: 'The model’s name there.' }),
    available: Type.Boolean(),
    reason: nullable(Type.String({ description: 'Why it is not available, and what would change that.' })),
    prices: nullable(PricesView),
    live: nullable(LiveView),
  },
  { $id: 'ModelProvider' },
);

/** One model in the common list shape, with all that the gateway adds under `service`. */
export const ModelEntry = Type.Object(
  {
    id: Type.String({ description: 'What to send as `model`: `family/name`.' }),
    object: Type.Literal('model'),
    created: Type.Integer({ minimum: 0, description: 'Unix seconds; 0 where nobody knows.' }),
    owned_by: Type.String(),
    service: Type.Object({
      name: Type.String({ description: 'A name for people.' }),
      description: nullable(Type.String()),
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

/** Lists every model, those that can be called now first. */
export const listModels = endpoint({
  id: 'listModels',
  method: 'GET',
  path: '/v1/models',
  summary: 'List the models.',
  description:
    'The complete list in the common shape, models that can be called now first. `service` tells the providers of each, what it can do, its prices and its live speed.',
  tag: 'Models',
  access: everyone,
  surface: 'v1',
  result: Type.Object({ object: Type.Literal('list'), data: Type.Array(ModelEntry) }),
  errors: ['unauthenticated'],
});

/** Shows one model by any name that a model call would accept. */
export const getModel = endpoint({
  id: 'getModel',
  method: 'GET',
  path: '/v1/models/{model...}',
  summary: 'Get one model.',
  tag: 'Models',
  access: everyone,
  surface: 'v1',
  params: Type.Object({
    model: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Any name that a model call accepts. Its slashes may be sent as they are.',
    }),
  }),
  result: ModelEntry,
  errors: ['unauthenticated', 'invalid_request', 'model_not_found'],
});

/** What one provider told when it was asked for its models. */
export const RefreshedProvider = Type.Object(
  {
    provider: Type.String(),
    models: Type.Integer({ minimum: 0, description: 'How many it offers now.' }),
    models_before: Type.Integer({ minimum: 0 }),
    error: nullable(
      Type.String({ description: 'Why it could not be asked, or what it listed is not taken; for people.' }),
    ),
  },
  { $id: 'RefreshedProvider' },
);

/** Asks the providers which models they have. */
export const refreshModels = endpoint({
  id: 'refreshModels',
  method: 'POST',
  path: '/v1/admin/models/refresh',
  summary: 'Ask the providers for their models.',
  description:
    'Every provider that the host has a key for is asked what it lists. What it tells takes the place of what was known, and is kept over restarts; a provider that cannot be asked keeps what it had, and so does one that lists nothing, or less than half of what it listed before, until it lists the same again.',
  tag: 'Models',
  access: { login: 'owner', loginOnly: true },
  surface: 'v1',
  result: Type.Object({ object: Type.Literal('list'), data: Type.Array(RefreshedProvider) }),
  errors: ['unauthenticated', 'signed_out', 'permission'],
});

export type RefreshedProvider = Static<typeof RefreshedProvider>;
export type ModelEntry = Static<typeof ModelEntry>;
export type ModelProvider = Static<typeof ModelProvider>;
export type PricesView = Static<typeof PricesView>;
export type LiveView = Static<typeof LiveView>;
export type CapabilitiesView = Static<typeof CapabilitiesView>;
