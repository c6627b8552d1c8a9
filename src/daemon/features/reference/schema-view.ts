import { inWords } from '../../../shared/text/in-words.ts';
import type { Schema } from './document.ts';
import { html, inline, type Markup } from './markup.ts';

/** Maximum depth of inline members; named schemas are linked. */
const depthMax = 6;

/** A short description of a schema's type. */
export function typeOf(schema: Schema): Markup {
  if (schema.$ref !== undefined) {
    const name = nameOf(schema.$ref);
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum) return joined(schema.enum.map((it) => html`<code>${JSON.stringify(it)}</code>`));
  // Beside a type, they only restrict it further.
  if (schema.type === undefined) {
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) return joined(choices.map(typeOf));
    if (schema.allOf) return joined(schema.allOf.map(typeOf), ' and ');
  }
  if (schema.prefixItems) return html`[${joined(schema.prefixItems.map(typeOf), ', ')}]`;
  if (schema.items) return html`list of ${typeOf(schema.items)}`;
  const values = valuesOf(schema);
  if (values && !schema.properties) return html`object of ${typeOf(values)}`;
  return html`${inWords([schema.type ?? 'anything'].flat())}`;
}

function joined(parts: Markup[], by = ' or '): Markup {
  return html`${parts.map((part, at) => html`${at === 0 ? '' : by}${part}`)}`;
}

export const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

/** The schema of values, for objects with arbitrary keys. */
function valuesOf({ additionalProperties, patternProperties }: Schema): Schema | undefined {
  if (typeof additionalProperties === 'object') return additionalProperties;
  return Object.values(patternProperties ?? {})[0];
}

/** The constraints of a value besides its type. */
export function boundsOf(schema: Schema): string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, format, pattern } = schema;
  return [
    ...between(minimum, maximum, ''),
    ...between(minLength, maxLength, ' characters'),
    ...between(minItems, maxItems, ' items'),
    ...(format === undefined ? [] : [format]),
    ...(pattern === undefined || pattern.length > 60 ? [] : [`fits ${pattern}`]),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ];
}

function between(min: number | undefined, max: number | undefined, unit: string): string[] {
  // The largest safe integer is a bound of JSON, not of the service.
  const top = max === Number.MAX_SAFE_INTEGER ? undefined : max;
  if (min !== undefined && top !== undefined) return [`${min} to ${top}${unit}`];
  if (min !== undefined) return [`at least ${min}${unit}`];
  return top === undefined ? [] : [`at most ${top}${unit}`];
}

/** The members of a schema as a list, with those of unnamed schemas inline. */
export function membersOf(schema: Schema, depth = 0): Markup {
  const members = Object.entries(schema.properties ?? {});
  const inner = innerOf(schema);
  if (members.length === 0) return depth < depthMax && inner ? membersOf(inner, depth + 1) : html``;
  const required = new Set(schema.required ?? []);
  const rows = members.map(([name, member]) => {
    const bounds = boundsOf(member);
    const nested = depth < depthMax ? membersOf(member, depth + 1) : html``;
    return html`<li><code class="name">${name}</code> <span class="type">${typeOf(member)}</span>${
      required.has(name) && html` <span class="required">required</span>`
    }${bounds.length > 0 && html` <span class="bounds">${bounds.join(', ')}</span>`}${
      member.description !== undefined && html`<div class="says">${inline(member.description)}</div>`
    }${nested.text !== '' && html`<details><summary>members</summary><template>${nested}</template></details>`}</li>`;
  });
  return html`<ul class="members">${rows}</ul>`;
}

/** The unnamed object in a list, choice or map. */
function innerOf(schema: Schema): Schema | undefined {
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  const candidates = [...parts, schema.items, valuesOf(schema)].filter((it) => it !== undefined);
  return candidates.find((it) => it.$ref === undefined && (it.properties || innerOf(it)));
}

/** A schema in place: its type, and its members unless it is named. */
export function schemaView(schema: Schema): Markup {
  const says =
    schema.description !== undefined && html`<div class="says">${inline(schema.description)}</div>`;
  return html`<p class="type">${typeOf(schema)}</p>${says}${membersOf(schema)}`;
}
