import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/daemon/config/config.ts';
import { applyReload, createReloadableSettings } from '../../../src/daemon/config/reloadable-settings.ts';
import { settings } from '../../../src/daemon/config/settings/table.ts';
import { schemaFaults } from '../../../src/daemon/yaml/schema-faults.ts';

const load = (text: string) => loadConfig({ flags: {}, env: {}, platform: 'linux', home: '/home/ada', text });

const before = await load(`
aliases: { fast: sim/echo, slow: sim/assistant }
fallbacks: { sim/echo: [sim/assistant] }
default_model: fast
decisions: { engine: { url: http://localhost:1 } }
capture: { redact: [email] }
listen: { public_url: https://gateway.example }
`);
const after = await load(`
aliases: { other: sim/echo }
decisions: { engine: { model: m } }
engine: { idle_seconds: 1 }
wallet: { declared_hosts: [a.example] }
mcp: { max_daily_sats: 5 }
`);

test('a reload changes all that is live, in the objects that the parts of the daemon hold', () => {
  const loaded = structuredClone(before.live);
  const applied = createReloadableSettings(before);
  const held = Object.entries({ ...applied, server: applied.decisions.engine });
  applyReload(applied, after);
  expect(applied).toEqual(after.live);
  const now: Record<string, unknown> = { ...applied, server: applied.decisions.engine };
  const replaced = held.filter(
    ([name, value]) => typeof value === 'object' && !Array.isArray(value) && now[name] !== value,
  );
  expect(replaced.map(([name]) => name)).toEqual(['lightning']);
  expect(before.live).toEqual(loaded);
});

const withDefault = settings.filter(({ default: value }) => value !== undefined);

test.each(withDefault)('the default of $name is valid', ({ schema, default: value }) => {
  expect(schemaFaults(schema, value, { whole: 'it' })).toEqual([]);
});
