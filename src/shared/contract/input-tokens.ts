import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { modelCallBodyLimit, modelCallErrors } from './model-call.ts';
import { CreateResponseRequest } from './responses.ts';
import { Count } from './vocabulary.ts';

/** The body of a create call, of which nothing is required but a model, if the configuration has none. */
const CountInputTokensBody = Type.Object(
  { ...CreateResponseRequest.properties },
  {
    $id: 'CountInputTokens',
    additionalProperties: true,
    description: 'As for `POST /v1/responses`; members that do not concern the input are ignored.',
  },
);

export type CountInputTokensBody = Static<typeof CountInputTokensBody>;

export const countInputTokens = endpoint({
  id: 'countInputTokens',
  method: 'POST',
  path: '/v1/responses/input_tokens',
  summary: 'Count the input tokens of a response.',
  description:
    'The number of input tokens of a call in the Responses format, without making the call. Providers that speak the format and can count do so exactly; for others it is an estimate, marked by the header `x-service-estimated`. Free of charge.',
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  unauthorizedType: 'unauthorized',
  body: CountInputTokensBody,
  bodyRequired: true,
  bodyLimit: modelCallBodyLimit,
  result: Type.Object({ object: Type.Literal('response.input_tokens'), input_tokens: Count }),
  responseHeaders: { 'x-service-estimated': '`true` if the number is an estimate of the gateway.' },
  errors: [...modelCallErrors, 'previous_response_not_found'],
});
