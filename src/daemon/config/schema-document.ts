import { ConfigFile } from './settings/table.ts';

/** The JSON Schema of config.yaml, for editors. */
export function schemaDocument(): Record<string, unknown> {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of Gateway',
    ...(JSON.parse(JSON.stringify(ConfigFile)) as Record<string, unknown>),
    // A place for anchors.
    patternProperties: { '^x-': {} },
  };
}
