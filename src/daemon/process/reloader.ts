import { homedir } from 'node:os';
import type { ConfigurationView, ConfigWarning, ReloadReport } from '../../shared/contract/configuration.ts';
import { ApiError } from '../../shared/errors.ts';
import { type Config, ConfigInvalid, loadConfig } from '../config/config.ts';
import type { ExplainedSetting } from '../config/explain.ts';
import type { ConfigFlags } from '../config/settings/setting.ts';
import type { PinoLog } from './create-log.ts';

export interface ReloaderDeps {
  /** The configuration that the daemon was started with. */
  config: Config;
  flags: ConfigFlags;
  env: Record<string, string | undefined>;
  stderr: { write(text: string): unknown };
  log: PinoLog;
  /**
   * Applies the settings that can change while calls run, and returns warnings about them; when it fails, nothing has
   * changed.
   */
  apply: (config: Config) => Promise<ConfigWarning[]>;
}

export interface Reloader {
  describe(): Promise<Omit<ConfigurationView, 'sealed_keys'>>;
  /** Fails with `invalid_request` when the file has faults. */
  reload(): Promise<ReloadReport>;
  /** Calls `apply` with the files that secrets are read from, now and after each reload. */
  followSecretFiles(apply: (paths: readonly string[]) => void): void;
  /** Reloads after a signal or a change of the file: problems are reported on stderr and never thrown. */
  reloadUnattended(): Promise<void>;
}

/** Reads the configuration again, with the flags and the environment of the start. Reloads run one after another. */
export function createReloader({ config, flags, env, stderr, log, apply }: ReloaderDeps): Reloader {
  let latest = config;
  let followFiles: (paths: readonly string[]) => void = () => {};
  let running: ExplainedSetting[] | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  const explain = async ({ configText: text, configFile: path }: Config) => {
    const { explainSettings } = await import('../config/explain.ts');
    return explainSettings({ flags, env, text, path });
  };
  // What the daemon was started with, whatever the file contains by now.
  const current = async () => {
    running ??= await explain(config);
    return running;
  };
  const load = async (): Promise<ReloadReport> => {
    const before = await current();
    // A file that is gone, or not there yet again, resets nothing.
    const hasFile = latest.configText !== '';
    const next = await loadConfig({
      flags,
      env,
      platform: process.platform,
      home: homedir(),
      hasFile,
      secretFiles: latest.secretFiles,
    });
    const wanted = await explain(next);
    const { haveSameValue } = await import('../config/explain.ts');
    const changed = wanted.filter((setting) => !haveSameValue(setting, settingIn(before, setting.name)));
    const newSecrets = next.secretFiles.filter(
      ({ variable, value }) => latest.secretFiles.find((file) => file.variable === variable)?.value !== value,
    );
    const warnings = await apply(next);
    log.level = next.logLevel;
    latest = next;
    followFiles(pathsOf(next));
    running = wanted.map((setting) =>
      setting.isLive ? setting : (settingIn(before, setting.name) ?? setting),
    );
    const names = (isLive: boolean) =>
      changed.filter((setting) => setting.isLive === isLive).map(({ name }) => name);
    const secrets = newSecrets.map(({ variable }) => variable);
    const report = {
      file: next.configFile,
      changed: [...names(true), ...secrets],
      waiting: names(false),
      warnings,
    };
    log.info({ ...report, changed: liveChanges(changed, before) }, 'configuration reloaded');
    return report;
  };
  const enqueue = () => {
    const reload = queue.then(load);
    queue = reload.catch(() => {});
    return reload;
  };
  return {
    async describe() {
      const [now, wanted] = [await current(), await explain(latest)];
      const { haveSameValue } = await import('../config/explain.ts');
      const { formOf, isChangeable } = await import('../config/changeable.ts');
      const settings = now.map((setting) => ({
        ...formOf(setting.name),
        is_changeable: isChangeable(setting.name),
        name: setting.name,
        value: setting.value,
        source: setting.source,
        place: setting.place,
        waits_for_restart: !haveSameValue(setting, settingIn(wanted, setting.name)),
      }));
      return { file: latest.configFile, settings };
    },
    followSecretFiles(apply) {
      followFiles = apply;
      apply(pathsOf(latest));
    },
    async reload() {
      try {
        return await enqueue();
      } catch (error) {
        if (!(error instanceof ConfigInvalid)) throw error;
        throw new ApiError('invalid_request', { message: `Nothing was changed. ${error.message}` });
      }
    },
    async reloadUnattended() {
      try {
        const { changed, waiting, warnings } = await enqueue();
        if (changed.length > 0) stderr.write(`Configuration changed: ${changed.join(', ')}.\n`);
        if (waiting.length > 0) stderr.write(`Restart to apply: ${waiting.join(', ')}.\n`);
        for (const { setting, message } of warnings) stderr.write(`Warning: ${setting}: ${message}\n`);
      } catch (error) {
        if (!(error instanceof ConfigInvalid)) return log.warn({ err: error }, 'reload failed');
        log.warn({ faults: error.faults }, 'invalid configuration ignored');
        const faults = error.message.replace(/^/gm, '  ');
        stderr.write(`The configuration has errors; the previous one stays in effect:\n${faults}\n`);
      }
    },
  };
}

function pathsOf({ secretFiles }: Config): string[] {
  return secretFiles.map(({ path }) => path);
}

function settingIn(settings: readonly ExplainedSetting[], name: string): ExplainedSetting | undefined {
  return settings.find((setting) => setting.name === name);
}

/** Live settings with their old and new values, for the log. */
function liveChanges(changed: readonly ExplainedSetting[], before: readonly ExplainedSetting[]) {
  return changed
    .filter(({ isLive }) => isLive)
    .map(({ name, value }) => ({ name, from: settingIn(before, name)?.value ?? null, to: value }));
}
