import { type Static, Type } from 'typebox';

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** Dollars per million tokens, as decimal strings. */
const PriceCap = Type.Object(
  {
    input: Type.Optional(Type.String({ pattern: '^\\d{1,7}(\\.\\d{1,9})?$' })),
    output: Type.Optional(Type.String({ pattern: '^\\d{1,7}(\\.\\d{1,9})?$' })),
  },
  { additionalProperties: false },
);

const Names = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 20 });

/** The extension member `service` of a model call: how it is paid and routed. All of it is optional. */
export const ServiceMember = Type.Object(
  {
    pay: Type.Optional(
      Type.Union([Type.Literal('mine'), Type.Literal('ours')], {
        description: '`mine` uses the workspace’s own provider key.',
      }),
    ),
    max_price: Type.Optional(nullable(PriceCap)),
    fallbacks: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        maxItems: 8,
        description: 'Models to try, in order, when no provider of the first one answers.',
      }),
    ),
    route: Type.Optional(
      Type.Object(
        {
          order: Type.Optional(Names),
          only: Type.Optional(Names),
          ignore: Type.Optional(Names),
          sort: Type.Optional(
            Type.Union([Type.Literal('price'), Type.Literal('latency'), Type.Literal('throughput')]),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    events: Type.Optional(
      Type.Boolean({ description: 'false leaves the `service:*` events out of a stream.' }),
    ),
  },
  { additionalProperties: true },
);

export type ServiceMember = Static<typeof ServiceMember>;

/** What the whole call cost, in dollars as decimal strings; total = provider + margin. */
export const CostView = Type.Object({
  provider_usd: Type.String(),
  margin_usd: Type.String(),
  total_usd: Type.String(),
});

export const AttemptView = Type.Object({
  provider: Type.String(),
  model: Type.String(),
  status: Type.Integer(),
  error_code: nullable(Type.String()),
  ms: Type.Integer(),
});

/** The member `service` of an answer: who answered, after which attempts, for how much. */
export const ServiceAnswer = Type.Object({
  model: Type.String(),
  provider: Type.String(),
  attempts: Type.Array(AttemptView),
  cost: nullable(CostView),
  charged_usd: Type.String(),
  own_key: Type.Boolean(),
});

export type ServiceAnswer = Static<typeof ServiceAnswer>;
