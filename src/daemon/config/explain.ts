import type { ExplainedSetting as Explained } from '../../shared/daemon-module.ts';
import { withoutPassword } from '../../shared/database-url.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import type { ConfigFlags } from './config.ts';
import { type Setting, settingFlags, settings } from './settings.ts';

/** A setting with its value and source, and whether it can change at run time. */
export interface ExplainedSetting extends Explained {
  isLive: boolean;
}

interface Sources {
  flags: ConfigFlags;
  env: Record<string, string | undefined>;
  /** Expects a file without faults. */
  text: string;
  path: string;
}

/** Every setting with its value; passwords in URLs are removed. */
export function explainSettings({ flags, env, text, path }: Sources): ExplainedSetting[] {
  const read = readYaml(text, path);
  const inFile = (setting: Setting) => {
    if ('faults' in read) return undefined;
    const keys = setting.name.split('.');
    const value = keys.reduce<unknown>(
      (at, key) => (at as Record<string, unknown> | null)?.[key],
      read.value,
    );
    if (value === undefined) return undefined;
    const [fault] = read.placed([{ path: keys, isKey: false, message: '' }]);
    return { value, place: fault ? `${path}:${fault.line}:${fault.column}` : path };
  };
  return settings.map((setting) => {
    const { name, usual, isLive } = setting;
    const of = (value: unknown, source: ExplainedSetting['source'], place: string | null) => ({
      name,
      value:
        name === 'storage.url' && value !== null ? withoutPassword(String(value)) : withoutPasswords(value),
      source,
      place,
      isLive,
    });
    const { flag } = setting;
    const flagged = flag && flags[settingFlags[flag]];
    if (flag && flagged !== undefined) return of(flagged, 'flag', flag);
    const variable = setting.env?.find((one) => env[one]?.trim());
    if (variable) return of(typed(env[variable] ?? '', usual), 'environment', variable);
    const written = inFile(setting);
    if (written) return of(written.value, 'file', written.place);
    return of(usual, 'default', null);
  });
}

function typed(text: string, usual: unknown): unknown {
  return typeof usual === 'number' && /^\d+$/.test(text) ? Number(text) : text;
}

/** URLs may contain credentials: `https://name:secret@host`. */
function withoutPasswords(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/^(https?:\/\/)[^/@\s]*@/, '$1***@');
  if (Array.isArray(value)) return value.map(withoutPasswords);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withoutPasswords(one)]));
}
