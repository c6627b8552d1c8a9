import { type Static, type TSchema, Type } from 'typebox';
import { nullable } from './vocabulary.ts';

/** Shapes that the contracts of the site API share. Source: parts 2 and 4 of the service description. */

/** What every success on the site API is wrapped in. */
export function dataOf<S extends TSchema>(data: S) {
  return Type.Object({ data });
}

/** One page, newest first. `nextCursor` is what to send as `before_id` for the page that follows; null on the last. */
export function pageOf<S extends TSchema, M extends Record<string, TSchema> = Record<never, never>>(
  item: S,
  meta?: M,
) {
  return Type.Object({
    data: Type.Array(item),
    meta: Type.Object({
      nextCursor: nullable(Type.String({ description: 'Send it as `before_id` for the page that follows.' })),
      ...(meta as M),
    }),
  });
}

/** The id of a row: it rises with each one that is made, and none is dealt out twice. */
export const RowId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

/** A row in a path. */
export function rowIn(description: string) {
  return Type.Object({
    id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description }),
  });
}

/** How many are given at most, whatever is asked for. */
export const pageSizeMax = 200;

/** What a list of rows is asked with, beside the filters of its own. */
export const rowPageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'How many; 50 unless told, and never more than 200.',
    }),
  ),
  before_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Only those with a lower id: the `nextCursor` of the page before.',
    }),
  ),
};

/** What a stream of rows is resumed with. */
export const resumeHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({ maxLength: 32, description: 'The SSE id of the last event that was seen.' }),
  ),
});

/** A person, as others see them. */
export const UserReference = Type.Object(
  {
    avatar: Type.String({ description: 'The address of a picture; empty where there is none.' }),
    handle: Type.String(),
    id: RowId,
    name: Type.String(),
  },
  { $id: 'UserReference' },
);

/** Text that people wrote, kept as it came: show its control characters, never obey them. */
export function PlainText(description: string, { maxLength }: { maxLength: number }) {
  return Type.String({ minLength: 1, maxLength, description });
}

export type UserReference = Static<typeof UserReference>;
