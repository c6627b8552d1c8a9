import { statSync } from 'node:fs';
import type { Context } from '../../context.ts';
import type { Finding } from './finding.ts';

/** Every fault of the configuration file and of the variables that are read with it. */
export async function checkConfig(context: Context): Promise<Finding[]> {
  const { env, platform, home } = context;
  const tools = await (await context.daemon()).loadConfigTools();
  const place = { env, platform, home };
  const { settings, faults } = await tools.explain(place);
  const path = tools.path(place);
  if (faults.length > 0) {
    return faults.map(({ place: where, message }) => ({
      check: 'config',
      state: 'broken',
      message: `${where}: ${message}`,
      remedy: `Mend it, then: gateway reload`,
    }));
  }
  const own = settings.filter(({ source }) => source !== 'default').length;
  const found = own === 0 ? 'nothing is set' : own === 1 ? '1 setting' : `${own} settings`;
  return [
    { check: 'config', state: 'ok', message: `${path}: ${found}`, remedy: null },
    ...writers(context, path),
  ];
}

/** Whoever may write the file may have the keys of providers sent elsewhere. */
function writers({ platform }: Context, path: string): Finding[] {
  const file = platform === 'win32' ? undefined : statSync(path, { throwIfNoEntry: false });
  if (!file || (file.mode & 0o022) === 0) return [];
  return [
    {
      check: 'config',
      state: 'broken',
      message: `${path}: others may write it, and have the keys of your providers sent to themselves`,
      remedy: `chmod go-w ${path}`,
    },
  ];
}
