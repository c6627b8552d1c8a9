import { AutopilotPolicy, AutopilotProfile } from '../../src/shared/contract/autopilots.ts';

export const autopilotFieldsFile = 'src/cli/commands/autopilot-fields.ts';

const header = `// Generated from src/shared/contract/autopilots.ts by \`npm run endpoints\`.
// biome-ignore-all format: generated

/** The fields of an option that takes a JSON object: their type and, unless the name says it, their meaning. */
type Fields = Readonly<Record<string, string>>;
`;

/** The fields of an autopilot's policy and profile, for the help of commands, as a module that loads no contract. */
export function autopilotFieldsSource(): string {
  return `${header}
export const policyFields: Fields = ${fieldsOf(AutopilotPolicy)};

export const profileFields: Fields = ${fieldsOf(AutopilotProfile)};
`;
}

interface Schema {
  type?: string;
  description?: string;
  enum?: string[];
  items?: Schema;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
}

function fieldsOf(schema: object): string {
  const { properties = {} } = schema as Schema;
  const lines = Object.entries(properties).map(([name, member]) => {
    const field = withoutNull(member);
    const meaning = (field.description ?? '').replaceAll('`', '');
    return `  ${name}: ${JSON.stringify([`${typeOf(field)}.`, meaning].join(' ').trim())},\n`;
  });
  return `{\n${lines.join('')}}`;
}

function withoutNull(schema: Schema): Schema {
  const found = schema.anyOf?.find(({ type }) => type !== 'null');
  return found ? { description: schema.description, ...found } : schema;
}

function typeOf({ type = 'text', enum: values, items, properties }: Schema): string {
  if (values) return values.join(' or ');
  if (items) return `A list of ${items.enum ? items.enum.join(', ') : 'texts'}`;
  if (properties) {
    const members = Object.entries(properties).map(([name, member]) => `${name} (${typeOf(member)})`);
    return `An object: ${members.join(', ')}`;
  }
  return { boolean: 'true or false', integer: 'A whole number', object: 'An object' }[type] ?? 'Text';
}
