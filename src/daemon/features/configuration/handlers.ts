import {
  type ConfigurationView,
  getConfiguration,
  type ReloadReport,
  reloadConfiguration,
} from '../../../shared/contract/configuration.ts';
import { type Caller, implement } from '../../handler.ts';

interface ConfigurationDependencies {
  /** Fails for everybody but the login of the user who runs the daemon. */
  requireDaemonOwner(caller: Caller): Promise<void>;
  describe(): Promise<ConfigurationView>;
  /** Fails with `invalid_request` and leaves everything as it is where the file has faults. */
  reload(): Promise<ReloadReport>;
}

export const configurationHandlers = (deps: ConfigurationDependencies) => [
  implement(getConfiguration, async ({ caller }) => {
    await deps.requireDaemonOwner(caller);
    return await deps.describe();
  }),

  implement(reloadConfiguration, async ({ caller }) => {
    await deps.requireDaemonOwner(caller);
    return await deps.reload();
  }),
];
