import { isObject } from '../../shared/json/json-object.ts';
import type { Setting } from './settings/setting.ts';
import { settings } from './settings/table.ts';

/** A setting of the table, by its name. */
function settingNamed(name: string): Setting {
  const found = settings.find((one) => one.name === name);
  if (found === undefined) throw new TypeError(`there is no setting ${name}`);
  return found;
}

/** Whether a setting may be changed by the API. */
export function isChangeable(name: string): boolean {
  const { live = true, isPath, isFileOnly } = settingNamed(name);
  return live && !isPath && !isFileOnly;
}

/** Why the API may not set this to a value, as a sentence; undefined if it may. A value of null removes it. */
export function unchangeable(name: string, value: unknown): string | undefined {
  const setting = settings.find((one) => name === one.name || name.startsWith(`${one.name}.`));
  // A group, or nothing: the file's checks know which.
  if (setting === undefined) return `${name} is not a setting.`;
  if (!isChangeable(setting.name))
    return `${setting.name} can only be changed in the file, on the machine of the daemon.`;
  if (setting.name !== 'upstreams') return undefined;
  const [, upstream, member] = name.split('.');
  if (upstream === undefined) return 'Upstreams are changed one by one: upstreams.NAME.';
  if (member === 'headers' || (member === undefined && isObject(value) && 'headers' in value))
    return 'Headers may be secret: they can only be changed in the file, on the machine of the daemon.';
  return undefined;
}

type Kind = 'text' | 'number' | 'flag' | 'choice' | 'list' | 'map';

/** What the value of a setting may be, for forms. */
export function formOf(name: string): { kind: Kind; choices: string[]; description: string } {
  const {
    type,
    enum: names,
    description = '',
  } = settingNamed(name).schema as {
    type?: string;
    enum?: readonly unknown[];
    description?: string;
  };
  const kind = names === undefined ? (kinds[type ?? ''] ?? 'text') : 'choice';
  return { kind, choices: (names ?? []).map(String), description };
}

const kinds: Readonly<Record<string, Kind>> = {
  string: 'text',
  integer: 'number',
  number: 'number',
  boolean: 'flag',
  array: 'list',
  object: 'map',
};
