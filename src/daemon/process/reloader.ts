import { isDeepStrictEqual } from 'node:util';
import type { ConfigurationView, ReloadReport } from '../../shared/contract/configuration.ts';
import { ApiError } from '../../shared/errors.ts';
import { type Config, ConfigInvalid } from '../config/config.ts';
import type { ExplainedSetting } from '../config/explain.ts';

export interface ReloaderDeps {
  /** What the daemon was started with. */
  config: Config;
  /** Reads it all again; throws a ConfigInvalid with every fault. */
  load: () => Promise<Config>;
  explain: (config: Config) => Promise<ExplainedSetting[]>;
  /** Puts in place what can change while calls run; when it fails, nothing was put. */
  apply: (config: Config) => Promise<void>;
  log: {
    info(details: object, message: string): void;
    warn(details: object, message: string): void;
  };
  /** Tells whoever looks at the daemon, where nobody waits for an answer. */
  tell: (text: string) => void;
}

export interface Reloader {
  describe(): Promise<ConfigurationView>;
  /** Fails with `invalid_request` where the file has faults. */
  reload(): Promise<ReloadReport>;
  /** The same for a signal or a changed file: failures are told and not thrown. */
  reloadAndTell(): Promise<void>;
}

/** Takes in what the file says by now. Reloads go one after another. */
export function reloader({ config, load, explain, apply, log, tell }: ReloaderDeps): Reloader {
  let latest = config;
  let running: ExplainedSetting[] | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  // The first look is at what the daemon was started with, whatever the file says by then.
  const current = async () => {
    running ??= await explain(config);
    return running;
  };
  const take = async (): Promise<ReloadReport> => {
    const before = await current();
    const next = await load();
    const wanted = await explain(next);
    const differs = ({ name, value }: ExplainedSetting) =>
      !isDeepStrictEqual(before.find((one) => one.name === name)?.value, value);
    const different = wanted.filter(differs);
    await apply(next);
    latest = next;
    running = wanted.map((setting) =>
      setting.isLive ? setting : (before.find(({ name }) => name === setting.name) ?? setting),
    );
    const names = (isLive: boolean) =>
      different.filter((setting) => setting.isLive === isLive).map(({ name }) => name);
    const report = { file: next.configFile, changed: names(true), waiting: names(false) };
    log.info({ ...report, changed: changesOf(different, before) }, 'the configuration was read anew');
    return report;
  };
  const inTurn = () => {
    const mine = turn.then(take);
    turn = mine.catch(() => {});
    return mine;
  };
  return {
    async describe() {
      const [now, wanted] = [await current(), await explain(latest)];
      const settings = now.map(({ name, value, source, place }) => ({
        name,
        value,
        source,
        place,
        waits_for_restart: !isDeepStrictEqual(wanted.find((one) => one.name === name)?.value, value),
      }));
      return { file: latest.configFile, settings };
    },
    async reload() {
      try {
        return await inTurn();
      } catch (error) {
        if (!(error instanceof ConfigInvalid)) throw error;
        throw new ApiError('invalid_request', { message: `Everything stays as it was. ${error.message}` });
      }
    },
    async reloadAndTell() {
      try {
        const { changed, waiting } = await inTurn();
        if (changed.length > 0) tell(`The configuration changed: ${changed.join(', ')}.\n`);
        if (waiting.length > 0) tell(`A restart will take in: ${waiting.join(', ')}.\n`);
      } catch (error) {
        if (!(error instanceof ConfigInvalid)) return log.warn({ err: error }, 'the reload failed');
        log.warn({ faults: error.faults }, 'the configuration has faults and is not used');
        tell(`The configuration has faults; the old one stays:\n${error.message.replace(/^/gm, '  ')}\n`);
      }
    },
  };
}

/** For the log: live settings with what they were and are. */
function changesOf(different: readonly ExplainedSetting[], before: readonly ExplainedSetting[]) {
  return different
    .filter(({ isLive }) => isLive)
    .map(({ name, value }) => ({
      name,
      from: before.find((one) => one.name === name)?.value ?? null,
      to: value,
    }));
}
