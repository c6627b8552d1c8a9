import { expect, test } from 'vitest';
import { numberParameters } from '../../../../src/daemon/storage/postgres/engine/placeholders.ts';

test.each([
  [
    'SELECT ? WHERE id = ? OR id = ?',
    'SELECT $1 WHERE id = $2 OR id = $3',
    [undefined, undefined, undefined],
  ],
  ['SELECT @one, @two WHERE id < @one', 'SELECT $1, $2 WHERE id < $1', ['one', 'two']],
  [`SELECT '?', "a?" -- ?\n, ?`, `SELECT '?', "a?" -- ?\n, $1`, [undefined]],
  ["SELECT x::text, '@a' || @a", "SELECT x::text, '@a' || $1", ['a']],
  [
    "SELECT created_at AS createdAt, 'createdAt' FROM t ORDER BY createdAt",
    `SELECT created_at AS "createdAt", 'createdAt' FROM t ORDER BY "createdAt"`,
    [],
  ],
  [
    'insert into "t" ("a") values (?) on conflict ("t"."a", "t"."b") do update set "a" = "t"."a" + 1',
    'insert into "t" ("a") values ($1) on conflict ("a", "b") do update set "a" = "t"."a" + 1',
    [undefined],
  ],
])('%s', (text, sql, names) => {
  expect(numberParameters(text)).toEqual({ sql, names });
});
