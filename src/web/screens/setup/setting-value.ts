import type { ConfigurationView } from '../../../shared/contract/configuration.ts';

/** The effective value of a setting. */
export function settingOf(configuration: ConfigurationView | undefined, name: string): unknown {
  return configuration?.settings.find((setting) => setting.name === name)?.value;
}
