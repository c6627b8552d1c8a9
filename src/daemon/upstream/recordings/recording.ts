import { type Static, Type } from 'typebox';

/*
 * One call to a provider as it is kept in a file: YAML that a person can read and change. `description` says what is
 * expected there; faults quote it.
 */

const text = Type.String({ description: 'text' });
const headers = Type.Record(Type.String(), text, { description: 'a map of names and texts' });
const whole = { additionalProperties: false, description: 'a map' } as const;

const Chunk = Type.Object(
  {
    /** Milliseconds since the request was sent. */
    after_ms: Type.Number({ minimum: 0, description: 'milliseconds from 0' }),
    text,
  },
  { additionalProperties: false, description: 'a map of after_ms and text' },
);

export const Recording = Type.Object(
  {
    /** ISO 8601. */
    recorded_at: text,
    /** The provider's name, else the host that was asked. */
    provider: text,
    model: Type.Optional(text),
    request: Type.Object({ method: text, url: text, headers, body: Type.Optional(Type.Unknown()) }, whole),
    response: Type.Object(
      {
        status: Type.Integer({ minimum: 200, maximum: 599, description: 'a status from 200 to 599' }),
        headers,
        /** Whether all of it came, or the connection or its reader left before the end. */
        ended: Type.Enum(['complete', 'broken'], { description: 'complete or broken' }),
        /** A whole JSON document; its bytes are the compact text of this. */
        json: Type.Optional(Type.Unknown()),
        /** Everything else, as it came. */
        chunks: Type.Optional(Type.Array(Chunk, { description: 'a list of chunks' })),
      },
      whole,
    ),
  },
  { additionalProperties: false, description: 'a recording' },
);

export type Recording = Static<typeof Recording>;
export type RecordedChunk = Static<typeof Chunk>;

/** The chunks of an answer; a document is one. */
export function chunksOf({ response }: Recording): RecordedChunk[] {
  if (response.chunks !== undefined) return response.chunks;
  return response.json === undefined ? [] : [{ after_ms: 0, text: JSON.stringify(response.json) }];
}
