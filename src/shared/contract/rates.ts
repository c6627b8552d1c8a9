import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { everyone, nullable, Timestamp, Usd } from './vocabulary.ts';

/** One price: what the provider takes, what the host adds, and their sum. */
export const Rate = Type.Object(
  { provider_usd: Usd, margin_usd: Usd, total_usd: Usd },
  {
    $id: 'Rate',
    description: 'Dollars per million tokens: the provider’s price, the margin, and their sum.',
  },
);

/** What one provider’s offer of one model costs; null where nobody knows. */
export const RateRow = Type.Object(
  {
    model: Type.String(),
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
      'Null where nobody knows the price. Prices of sound and pictures are there where they are not those of text.',
  },
);

/** The posted prices, one row per model and provider. */
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

/** Shows what model calls cost. */
export const listRates = endpoint({
  id: 'listRates',
  method: 'GET',
  path: '/v1/rates',
  summary: 'Get the rate card.',
  description: 'One row per model and provider: the provider’s price, the host’s margin, and their sum.',
  tag: 'Models',
  access: everyone,
  surface: 'v1',
  result: RateCard,
  errors: ['unauthenticated'],
});

export type Rate = Static<typeof Rate>;
export type RateRow = Static<typeof RateRow>;
export type RateCard = Static<typeof RateCard>;
