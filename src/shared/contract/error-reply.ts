import { type Static, Type } from 'typebox';
import { type ApiError, failures } from '../errors.ts';
import type { Surface } from './endpoint.ts';

/** Error bodies. Source: part 7 of the service description. */

/** Every `type` of an error; model calls have `unauthorized` in place of `authentication`. */
const errorTypes = [...new Set([...Object.values(failures).map(({ type }) => type), 'unauthorized'])].sort();

/** An error on `/v1`. Some errors add members such as `balance_usd` or `resets_at`. */
export const ErrorReply = Type.Object(
  {
    error: Type.Object(
      {
        type: Type.Enum(errorTypes, { description: 'The kind of error: branch on it.' }),
        code: Type.String({ description: 'The specific reason.' }),
        message: Type.String({ description: 'A message for people; do not parse it.' }),
        param: Type.Union([Type.String(), Type.Null()], { description: 'The offending field or limit.' }),
        request_id: Type.String({ description: 'The same as the `x-request-id` header.' }),
      },
      { additionalProperties: true },
    ),
  },
  { $id: 'Error' },
);

/** An error of the Messages API. Source: Anthropic's API reference. */
export const MessagesError = Type.Object(
  {
    type: Type.Literal('error'),
    error: Type.Object(
      {
        type: Type.String({ description: '`invalid_request_error`, `rate_limit_error`, …' }),
        message: Type.String({ description: 'For people; starts with the offending field.' }),
        details: Type.Object(
          {
            error_code: Type.String({ description: 'The specific reason, as in other formats.' }),
            param: Type.Optional(Type.String({ description: 'The offending field or limit.' })),
          },
          { additionalProperties: true },
        ),
      },
      { additionalProperties: true },
    ),
    request_id: Type.String({ description: 'The same as the `request-id` header.' }),
  },
  { $id: 'MessagesError' },
);

/** An error on the site API. */
export const SiteError = Type.Object(
  {
    message: Type.String(),
    errors: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.String()), {
        description: 'On a 403 for one member of the request: why it is refused.',
      }),
    ),
  },
  { $id: 'SiteError' },
);

/** Invalid input on the site API: messages per field. */
export const SiteInvalid = Type.Object(
  {
    message: Type.Literal('The given data was invalid.'),
    errors: Type.Record(Type.String(), Type.Array(Type.String())),
  },
  { $id: 'SiteInvalid' },
);

export type ErrorReply = Static<typeof ErrorReply>;
export type MessagesError = Static<typeof MessagesError>;
export type SiteError = Static<typeof SiteError>;
export type SiteInvalid = Static<typeof SiteInvalid>;

/** The HTTP status of an error. Invalid input is 422 on the site API. Anthropic's API has a status of its own for overload. */
export function statusOf(
  { code, providerCondition }: Pick<ApiError, 'code'> & Partial<Pick<ApiError, 'providerCondition'>>,
  surface: Surface,
): number {
  const isOverload = code === 'unavailable' || providerCondition === 'overloaded';
  if (surface === 'messages' && isOverload) return 529;
  return surface === 'site' && code === 'invalid_request' ? 422 : failures[code].status;
}
