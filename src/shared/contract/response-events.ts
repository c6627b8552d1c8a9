import { Type } from 'typebox';
import { CostView, Count, nullable, Usd } from './vocabulary.ts';

/** Events of a stream in the Responses format. Source: the Open Responses specification, streaming. */

export const ResponseUsage = Type.Object(
  {
    input_tokens: Count,
    input_tokens_details: Type.Object({ cached_tokens: Count, cache_write_tokens: Type.Optional(Count) }),
    output_tokens: Count,
    output_tokens_details: Type.Object({ reasoning_tokens: Count }),
    total_tokens: Count,
  },
  { $id: 'ResponseUsage', additionalProperties: true },
);

const sequence_number = Type.Integer({ minimum: 0, description: 'Increments by one, from 0.' });

/** The selected route; sent before the first item. */
const RouteEvent = Type.Object(
  {
    type: Type.Literal('service:route'),
    sequence_number,
    request_id: Type.String(),
    model: Type.String(),
    provider: Type.String(),
    attempt: Type.Integer({ minimum: 1, description: 'The number of providers tried, including this one.' }),
  },
  { $id: 'RouteEvent', description: 'The selected route.' },
);

/** The cost of the answer; sent before the last event. */
const CostEvent = Type.Object(
  {
    type: Type.Literal('service:cost'),
    sequence_number,
    request_id: Type.String(),
    usage: ResponseUsage,
    cost: nullable(CostView),
    charged_usd: Usd,
  },
  { $id: 'CostEvent', description: 'The cost of the answer.' },
);

/** One event of a stream, named by `type`; `sequence_number` increments from 0. */
export const ResponseEvent = Type.Union(
  [
    RouteEvent,
    CostEvent,
    Type.Object(
      {
        type: Type.String({
          description:
            '`response.created`, `response.output_text.delta`, `error`, …, as defined by the format.',
        }),
        sequence_number,
      },
      { additionalProperties: true },
    ),
  ],
  { $id: 'ResponseEvent', description: 'The `data` of one server-sent event.' },
);
