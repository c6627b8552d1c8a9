import { type Static, Type } from 'typebox';
import { type ErrorCode, failures } from '../errors.ts';
import type { Endpoint } from './endpoint.ts';

/** The bodies of failures. Source: part 7 of the service description. */

/** A failure on `/v1`. Some errors add members of their own, like `balance_usd` or `resets_at`. */
export const ErrorReply = Type.Object(
  {
    error: Type.Object(
      {
        type: Type.String({ description: 'The kind of failure: branch on it.' }),
        code: Type.String({ description: 'The exact reason.' }),
        message: Type.String({ description: 'A sentence for people; do not parse it.' }),
        param: Type.Union([Type.String(), Type.Null()], { description: 'The field or limit at fault.' }),
        request_id: Type.String({ description: 'Equals the header `x-request-id`.' }),
      },
      { additionalProperties: true },
    ),
  },
  { $id: 'Error' },
);

/** A failure on the site surface. */
export const SiteError = Type.Object({ message: Type.String() }, { $id: 'SiteError' });

/** Input that the site surface does not accept: sentences for each field at fault. */
export const SiteInvalid = Type.Object(
  {
    message: Type.Literal('The given data was invalid.'),
    errors: Type.Record(Type.String(), Type.Array(Type.String())),
  },
  { $id: 'SiteInvalid' },
);

export type ErrorReply = Static<typeof ErrorReply>;
export type SiteError = Static<typeof SiteError>;
export type SiteInvalid = Static<typeof SiteInvalid>;

/** The status of a failure: the site surface tells input that it does not accept by 422. */
export function statusOf(code: ErrorCode, surface: Endpoint['surface']): number {
  return surface === 'site' && code === 'invalid_request' ? 422 : failures[code].status;
}
