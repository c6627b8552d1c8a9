import { Ajv } from 'ajv';
import { type TSchema, Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { toolInputs } from '../../../src/daemon/features/autopilots/index.ts';
import { formats } from '../../../src/daemon/http/validation/input-check.ts';
import { type JsonSchema, standalone } from '../../../src/shared/contract/schema.ts';
import { mapOf } from '../../../src/shared/contract/vocabulary.ts';
import { endpoints } from '../../support/endpoints.ts';

const schemas: [string, TSchema][] = [
  ...endpoints.flatMap(({ id, params, query, headers, body, result, stream, socket }) =>
    Object.entries({ params, query, headers, body, result, ...stream, ...socket }).flatMap(
      ([part, schema]): [string, TSchema][] => (isObject(schema) ? [[`${part} of ${id}`, schema]] : []),
    ),
  ),
  ...Object.entries(toolInputs),
];

/** Every schema in a schema whose members callers name. */
function mapsIn(schema: unknown): JsonSchema[] {
  if (Array.isArray(schema)) return schema.flatMap(mapsIn);
  if (!isObject(schema)) return [];
  const isMap = isObject(schema.patternProperties) || isObject(schema.additionalProperties);
  return [...(isMap ? [schema] : []), ...Object.values(schema).flatMap(mapsIn)];
}

/** A name of a member whose value is not checked; undefined if there is none. */
function uncheckedName(map: JsonSchema, $defs: unknown): string | undefined {
  const { patternProperties, additionalProperties, propertyNames } = map;
  const ajv = new Ajv({ strict: false, formats, validateSchema: false });
  const names = [
    'name',
    '',
    'a b',
    'A',
    'ü',
    'a\nb',
    'a\r\nb: c',
    '0',
    '-',
    'constructor',
    'x'.repeat(70_000),
  ];
  const patterns = Object.values((patternProperties as object | undefined) ?? {});
  const members = isObject(additionalProperties) ? [...patterns, additionalProperties] : patterns;
  const values = [0, -1.5, 'text', '\n', '', true, null, {}, { a: 0 }, [], [0]];
  const refused = values.filter((value) =>
    members.every((member) => !ajv.validate({ ...(member as object), $defs }, value)),
  );
  const isMember = ajv.compile({
    type: 'object',
    patternProperties,
    additionalProperties,
    propertyNames,
    $defs,
  });
  return names.find((name) => refused.some((value) => isMember({ [name]: value })));
}

describe('every map in a contract checks its values, whatever their names', () => {
  const all = schemas.flatMap(([where, schema]) => {
    const whole = standalone(schema);
    return mapsIn(whole).map((map, at): [string, JsonSchema, unknown] => [
      `${where}, map ${at + 1}`,
      map,
      whole.$defs,
    ]);
  });
  test.each(all)('%s', (_where, map, $defs) => expect(uncheckedName(map, $defs)).toBeUndefined());

  test('as a record of TypeBox does not', () => {
    const names = { pattern: '^[a-z]+$' };
    const unchecked = standalone(Type.Record(Type.String(names), Type.String()));
    expect(uncheckedName(unchecked, undefined)).toBeDefined();
    expect(uncheckedName(standalone(mapOf(names, Type.String())), undefined)).toBeUndefined();
  });
});

function isObject(value: unknown): value is JsonSchema & TSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
