import { type Static, type TSchema, Type } from 'typebox';
import { nullable } from './vocabulary.ts';

/** Shapes shared by the site API's contracts. Source: parts 2 and 4 of the service description. */

/** The envelope of a successful response on the site API. */
export function dataOf<S extends TSchema>(data: S) {
  return Type.Object({ data });
}

/** One page, newest first. Send `nextCursor` as `before_id` for the next page; null on the last one. */
export function pageOf<S extends TSchema, M extends Record<string, TSchema> = Record<never, never>>(
  item: S,
  meta?: M,
) {
  return Type.Object({
    data: Type.Array(item),
    meta: Type.Object({
      nextCursor: nullable(Type.String({ description: 'Send it as `before_id` for the next page.' })),
      ...(meta as M),
    }),
  });
}

/** The id of a row: ids increase and are never reused. */
export const RowId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

export function rowIn(description: string) {
  return Type.Object({
    id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description }),
  });
}

/** The maximum page size. */
export const pageSizeMax = 200;

/** The query parameter for the size of a page. Larger values than the maximum are valid, and count as it. */
export function pageLimit(description: string) {
  return Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description }));
}

const limit = pageLimit('Page size; default 50, at most 200.');

/** Query parameters of a list whose entries have names as ids, besides its filters. */
export const pageQuery = {
  limit,
  before_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'The `nextCursor` of the previous page.' }),
  ),
};

/** Query parameters of a list of rows, besides its filters. */
export const rowPageQuery = {
  limit,
  before_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Only rows with a lower id: the `nextCursor` of the previous page.',
    }),
  ),
};

/** Headers to resume a stream of rows. */
export const resumeHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({ maxLength: 32, description: 'The SSE id of the last event received.' }),
  ),
});

/** The public view of a user. */
export const UserReference = Type.Object(
  {
    avatar: Type.String({ description: 'The URL of an image; empty for none.' }),
    handle: Type.String(),
    id: RowId,
    name: Type.String(),
  },
  { $id: 'UserReference' },
);

/** User text, stored unmodified: display control characters, never interpret them. */
export function PlainText(description: string, { maxLength }: { maxLength: number }) {
  return Type.String({ maxLength, pattern: '\\S', description });
}

export type UserReference = Static<typeof UserReference>;
