import {
  type ConfigurationView,
  getConfiguration,
  type ReloadReport,
  reloadConfiguration,
} from '../../../shared/contract/configuration.ts';
import { implement } from '../../base/handler.ts';

interface ConfigurationDependencies {
  describe(): Promise<ConfigurationView>;
  /** Fails with `invalid_request` and changes nothing if the file has faults. */
  reload(): Promise<ReloadReport>;
}

export const configurationHandlers = (deps: ConfigurationDependencies) => [
  implement(getConfiguration, () => deps.describe()),

  implement(reloadConfiguration, () => deps.reload()),
];
