import { Type } from 'typebox';
import { ResponseResource, ResponseUsage } from './response-resource.ts';
import { CostView, nullable, Usd } from './vocabulary.ts';

/** Events of a stream in the Responses format. Source: the Open Responses specification, streaming. */

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
          pattern: '^(?!service:)',
          description:
            '`response.created`, `response.output_text.delta`, `error`, …, as defined by the format.',
        }),
        sequence_number,
        response: Type.Optional(ResponseResource),
      },
      { additionalProperties: true },
    ),
  ],
  { $id: 'ResponseEvent', description: 'The `data` of one server-sent event.' },
);
