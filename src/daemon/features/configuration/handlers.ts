import {
  type ConfigurationView,
  changeConfiguration,
  getConfiguration,
  previewConfiguration,
  type ReloadReport,
  reloadConfiguration,
} from '../../../shared/contract/configuration.ts';
import { implement } from '../../base/handler.ts';
import type { createConfigurationChanges } from './changes.ts';

interface ConfigurationDependencies {
  describe(): Promise<Omit<ConfigurationView, 'sealed_keys'>>;
  /** Providers and upstreams with a key of the host in the vault. */
  sealedKeys(): string[];
  /** Fails with `invalid_request` and changes nothing if the file has faults. */
  reload(): Promise<ReloadReport>;
  changes: ReturnType<typeof createConfigurationChanges>;
}

export const configurationHandlers = ({
  describe,
  sealedKeys,
  reload,
  changes,
}: ConfigurationDependencies) => [
  implement(getConfiguration, async () => ({ ...(await describe()), sealed_keys: sealedKeys() })),

  implement(reloadConfiguration, () => reload()),

  implement(previewConfiguration, ({ body }) => changes.preview(body)),

  implement(changeConfiguration, ({ body }) => changes.change(body)),
];
