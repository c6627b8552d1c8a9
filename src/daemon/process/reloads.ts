import { homedir } from 'node:os';
import { applyReload, type LiveSettings } from '../composition/live-settings.ts';
import type { Provider } from '../composition/providers-from-config.ts';
import { type Config, type ConfigFlags, loadConfig } from '../config/config.ts';
import type { createLog } from './log.ts';
import { type Reloader, reloader } from './reloader.ts';

interface ReloadsDeps {
  config: Config;
  live: LiveSettings;
  io: {
    flags: ConfigFlags;
    env: Record<string, string | undefined>;
    stderr: { write(text: string): unknown };
  };
  log: ReturnType<typeof createLog>;
  adaptConfigForReplay: (config: Config) => Config;
  /** Fails with a ConfigInvalid where a script has faults. */
  makeProviders: (config: Config) => Promise<Provider[]>;
  replaceProviders: (made: readonly Provider[]) => void;
}

/** Reads the configuration again as it was read at the start: with the same flags and environment. */
export function createReloads(deps: ReloadsDeps): Reloader {
  const { config, live, io, log } = deps;
  const { flags, env, stderr } = io;
  return reloader({
    config,
    load: () => loadConfig({ flags, env, platform: process.platform, home: homedir() }),
    async explain({ configText: text, configFile: path }) {
      const { explainSettings } = await import('../config/explain.ts');
      return explainSettings({ flags, env, text, path });
    },
    async apply(next) {
      const providers = await deps.makeProviders(deps.adaptConfigForReplay(next));
      applyReload(live, next);
      deps.replaceProviders(providers);
      log.level = next.logLevel;
    },
    log,
    tell: (text) => stderr.write(text),
  });
}
