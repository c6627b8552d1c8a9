import { type TSchema, Type } from 'typebox';
import { agentSettings } from './agents.ts';
import { billingSettings } from './billing.ts';
import { cacheSettings } from './cache.ts';
import { providerSettings, routeSettings } from './calls.ts';
import { guardrailSettings } from './guardrails.ts';
import { listenSettings, workerSettings } from './listen.ts';
import { observationSettings } from './observation.ts';
import { paymentSettings } from './payments.ts';
import { type FileOf, type Group, isSetting, type Setting } from './setting.ts';
import { storageSettings } from './storage.ts';
import { vaultSettings } from './vault.ts';

/** All settings, in the order in which they are shown. */
export const table = {
  ...listenSettings,
  ...billingSettings,
  ...providerSettings,
  ...workerSettings,
  ...routeSettings,
  ...guardrailSettings,
  ...storageSettings,
  ...agentSettings,
  ...cacheSettings,
  ...vaultSettings,
  ...paymentSettings,
  ...observationSettings,
};

/** The file `config.yaml`; `docs/configuration.md` describes each setting. All are optional. */
export const ConfigFile = schemaOf(table, 'a map of settings');

export type ConfigFile = FileOf<typeof table>;

function schemaOf(group: Group, description: string): TSchema {
  const members = Object.entries(group).map(([name, node]) => {
    if (isSetting(node)) return [name, Type.Optional(node.schema)];
    const isProvider = group === table.providers;
    return [
      name,
      Type.Optional(schemaOf(node, isProvider ? 'a map of key_env, base_url and headers' : 'a map')),
    ];
  });
  return Type.Object(Object.fromEntries(members), { additionalProperties: false, description });
}

/** All settings with their names: `listen.port`. */
export const settings: readonly (Setting & { name: string })[] = settingsIn(table, '');

function settingsIn(group: Group, path: string): (Setting & { name: string })[] {
  return Object.entries(group).flatMap(([key, node]) => {
    const name = path + key;
    return isSetting(node) ? [{ name, ...node }] : settingsIn(node, `${name}.`);
  });
}
