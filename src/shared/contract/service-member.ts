import { type Static, Type } from 'typebox';
import { AttemptView, CostView, nullable, Usd } from './vocabulary.ts';

const Dollars = Type.String({ pattern: '^\\d{1,7}(\\.\\d{1,9})?$', description: 'Dollars: `"2.50"`.' });

/** Dollars per million tokens, as decimal strings. */
const PriceCap = Type.Object(
  { input: Type.Optional(Dollars), output: Type.Optional(Dollars) },
  {
    additionalProperties: false,
    description: 'The most per million tokens; dearer providers are not asked.',
  },
);

function providerNames(description: string) {
  return Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 20, description });
}

/** The extension member `service` of a model call: how it is paid and routed. All of it is optional. */
export const ServiceMember = Type.Object(
  {
    pay: Type.Optional(
      Type.Union([Type.Literal('mine'), Type.Literal('ours')], {
        description: '`mine`: on the workspace’s own provider key. `ours`: on the host’s.',
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
          order: Type.Optional(providerNames('Providers to ask first, in this order.')),
          only: Type.Optional(providerNames('No other providers are asked.')),
          ignore: Type.Optional(providerNames('Providers that are not asked.')),
          sort: Type.Optional(
            Type.Union([Type.Literal('price'), Type.Literal('latency'), Type.Literal('throughput')]),
          ),
        },
        { additionalProperties: false, description: 'Which providers are asked, and in what order.' },
      ),
    ),
    thread: Type.Optional(
      nullable(
        Type.String({
          minLength: 1,
          maxLength: 64,
          description:
            'The thread that the call is a run of: what it holds is the context, what is sent here is new, and both that and the answer are added to it. Keys need the scope `threads`.',
        }),
      ),
    ),
    cache: Type.Optional(
      Type.Enum(['off', 'read-only', 'read-write'], {
        description:
          'Whether the answer may be one that the workspace got to the same request before (`read-only`), and may be kept for later (`read-write`).',
      }),
    ),
    events: Type.Optional(
      Type.Boolean({ description: '`false` leaves the `service:*` events out of a stream.' }),
    ),
  },
  {
    $id: 'ServiceRequest',
    additionalProperties: true,
    description: 'How the call is paid and routed; all of it is optional.',
  },
);

export type ServiceMember = Static<typeof ServiceMember>;

/** The member `service` of an answer: who answered, after which attempts, for how much. */
export const ServiceAnswer = Type.Object(
  {
    model: Type.String(),
    provider: Type.String(),
    attempts: Type.Array(AttemptView),
    cost: nullable(CostView),
    charged_usd: Usd,
    own_key: Type.Boolean({ description: 'Whether the workspace’s own provider key was used.' }),
  },
  { $id: 'ServiceAnswer', description: 'Who answered, after which attempts, for how much.' },
);

export type ServiceAnswer = Static<typeof ServiceAnswer>;
