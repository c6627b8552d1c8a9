import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { everyone, nullable, Timestamp, Usd } from './vocabulary.ts';

/** A price: the provider's price, the host's margin, and their sum. */
export const Rate = Type.Object(
  { provider_usd: Usd, margin_usd: Usd, total_usd: Usd },
  {
    $id: 'Rate',
    description: 'Dollars per million tokens: the provider’s price, the margin, and their sum.',
  },
);

/** The prices of one model at one provider; null if unknown. */
export const RateRow = Type.Object(
  {
    model: Type.String({ description: 'Its id; `NAME/*` for all models that a provider does not list.' }),
    provider: Type.String(),
    kind: Type.Literal('list'),
    input: nullable(Rate),
    cached_input: nullable(Rate),
    cache_write: nullable(Rate),
    output: nullable(Rate),
    audio_input: Type.Optional(Rate),
    cached_audio: Type.Optional(Rate),
    audio_output: Type.Optional(Rate),
    image_output: Type.Optional(Rate),
  },
  {
    $id: 'RateRow',
    description:
      'Null if the price is unknown. Audio and image prices are present where they differ from those of text.',
  },
);

/** The rate card, one row per model and provider. */
export const RateCard = Type.Object(
  {
    object: Type.Literal('list'),
    unit: Type.Literal('USD per million tokens'),
    margin_percent: Type.Number({ minimum: 0 }),
    as_of: Timestamp,
    data: Type.Array(RateRow),
  },
  { $id: 'RateCard' },
);

export const listRates = endpoint({
  id: 'listRates',
  method: 'GET',
  path: '/v1/rates',
  summary: 'Get the rate card.',
  description: 'One row per model and provider: the provider’s price, the host’s margin, and their sum.',
  tag: 'Models',
  access: everyone,
  result: RateCard,
});

export type Rate = Static<typeof Rate>;
export type RateRow = Static<typeof RateRow>;
export type RateCard = Static<typeof RateCard>;
