import { isObject } from '../../shared/json/json-object.ts';
import type { Config, ReloadableSettings } from './config.ts';

export function createReloadableSettings({ live }: Config): ReloadableSettings {
  return structuredClone(live);
}

/** Applies a new configuration to subsequent calls. Objects stay the same, as the daemon's parts hold on to them. */
export function applyReload(settings: ReloadableSettings, config: Config): void {
  const next = createReloadableSettings(config);
  replaceMembers(settings, next);
  // Whoever holds the one before sees that it was replaced.
  settings.lightning = next.lightning;
}

function replaceMembers(target: object, source: object): void {
  const [now, next] = [target as Record<string, unknown>, source as Record<string, unknown>];
  for (const name of Object.keys(now)) if (!Object.hasOwn(next, name)) delete now[name];
  for (const [name, value] of Object.entries(next)) {
    const held = now[name];
    if (isObject(held) && isObject(value)) replaceMembers(held, value);
    else now[name] = value;
  }
}
