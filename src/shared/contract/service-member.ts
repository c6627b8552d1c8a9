import { type Static, Type } from 'typebox';
import {
  labelCharactersMax,
  requestIdPattern,
  tagNamePattern,
  tagsMax,
  tagValuePattern,
} from '../constants/call-labels.ts';
import { fallbackReasons } from '../constants/fallback-reasons.ts';
import {
  AttemptView,
  amount,
  CostView,
  mapOf,
  maybe,
  nullable,
  OneLine,
  subscriptionMembers,
  Usd,
} from './vocabulary.ts';

const Dollars = amount('Dollars, at most 9,000,000: `"2.50"`.');

/** Dollars per million tokens, as decimal strings. */
const PriceCap = Type.Object(
  { input: Type.Optional(Dollars), output: Type.Optional(Dollars) },
  {
    additionalProperties: false,
    description: 'Maximum prices per million tokens; more expensive providers are skipped.',
  },
);

function providerNames(description: string) {
  return Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 20, description });
}

/** The extension member `service` of a model call: payment and routing options. All are optional. */
export const ServiceMember = Type.Object(
  {
    pay: Type.Optional(
      Type.Union([Type.Literal('mine'), Type.Literal('ours')], {
        description: '`mine`: the workspace’s own provider key. `ours`: the host’s.',
      }),
    ),
    max_price: Type.Optional(nullable(PriceCap)),
    fallbacks: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        maxItems: 8,
        description: 'Models to try in order when no provider of the first one answers.',
      }),
    ),
    fallback_on: Type.Optional(
      Type.Array(Type.Enum([...fallbackReasons]), {
        maxItems: 3,
        description:
          'For what the next provider or fallback is tried, besides failures: an input that is too long, also where the next context is not known to be longer; a request or answer that the provider filters; an answer without content. Only before anything was sent.',
      }),
    ),
    route: Type.Optional(
      Type.Object(
        {
          order: Type.Optional(providerNames('Providers to try first, in this order.')),
          only: Type.Optional(providerNames('The only providers to use.')),
          ignore: Type.Optional(providerNames('Providers to exclude.')),
          sort: Type.Optional(
            Type.Union([Type.Literal('price'), Type.Literal('latency'), Type.Literal('throughput')]),
          ),
        },
        { additionalProperties: false, description: 'Which providers to use, and in what order.' },
      ),
    ),
    thread: Type.Optional(
      nullable(
        Type.String({
          minLength: 1,
          maxLength: 64,
          description:
            'The thread this call is a run of: its content becomes the context, and the new input and the answer are appended to it. Keys need the scope `threads`.',
        }),
      ),
    ),
    cache: Type.Optional(
      Type.Enum(['off', 'read-only', 'read-write'], {
        description:
          'Whether to reuse an earlier answer to the same request of the workspace (`read-only`), and to store this one for reuse (`read-write`).',
      }),
    ),
    user: maybe(
      OneLine({
        maxLength: labelCharactersMax,
        description: 'The end user for whom the call is made; kept on the call and in usage.',
      }),
    ),
    conversation: maybe(
      OneLine({ maxLength: labelCharactersMax, description: 'The conversation that the call belongs to.' }),
    ),
    tags: maybe(
      mapOf({ pattern: tagNamePattern }, Type.String({ pattern: tagValuePattern }), {
        maxProperties: tagsMax,
        description: 'Tags to find the call and to group usage by: `{"team": "search"}`.',
      }),
    ),
    replay_of: maybe(
      Type.String({
        pattern: requestIdPattern,
        description: 'The id of the request that this call repeats.',
      }),
    ),
    events: Type.Optional(
      Type.Boolean({ description: '`false` omits the `service:*` events from a stream.' }),
    ),
  },
  {
    $id: 'ServiceRequest',
    // A misspelled option, such as a price limit, would be ignored otherwise.
    additionalProperties: false,
    description: 'Payment and routing options, and labels; all are optional.',
  },
);

export type ServiceMember = Static<typeof ServiceMember>;

/** A part of a request that did not reach the model. */
export const DroppedMember = Type.Object(
  {
    param: Type.String({ description: 'Its path in the request: `tools[3]`.' }),
    type: Type.Optional(Type.String({ description: 'The type of a tool or an item.' })),
  },
  { $id: 'DroppedMember', description: 'A part of a request that did not reach the model.' },
);

/** The member `service` of an answer: provider, attempts and cost. */
export const ServiceAnswer = Type.Object(
  {
    model: Type.String(),
    provider: Type.String(),
    attempts: Type.Array(AttemptView),
    cost: nullable(CostView),
    charged_usd: Usd,
    own_key: Type.Boolean({ description: 'Whether the workspace’s own provider key was used.' }),
    ...subscriptionMembers,
    provider_finish_reason: Type.Optional(
      Type.String({
        description:
          'The provider’s own word for how the answer ended, where it says more than the format can.',
      }),
    ),
    dropped: Type.Optional(
      Type.Array(DroppedMember, {
        description:
          'Parts of the request that the provider’s format cannot express, that exceed the context with which a server runs the model, or that money does not cover; absent if none.',
      }),
    ),
  },
  { $id: 'ServiceAnswer', description: 'Provider, attempts and cost.' },
);

export type ServiceAnswer = Static<typeof ServiceAnswer>;
