import { isDeepStrictEqual } from 'node:util';
import type { ExplainedSetting as Explained } from '../../shared/daemon-module.ts';
import { isObject } from '../../shared/json/json-object.ts';
import { isHarmlessHeader } from '../../shared/masking/mask-headers.ts';
import { maskText, maskUrl, removedText } from '../../shared/masking/mask-text.ts';
import { withoutPassword } from '../../shared/storage/database-url.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import type { ConfigFlags } from './settings/setting.ts';
import { settings } from './settings/table.ts';

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

/** What the sources say, which may be secret: by its setting, to compare them. */
const writtenValues = new WeakMap<ExplainedSetting, unknown>();

/** Whether two settings have the same value, what is masked in them included. */
export function haveSameValue(one: ExplainedSetting, other: ExplainedSetting | undefined): boolean {
  return other !== undefined && isDeepStrictEqual(writtenValues.get(one), writtenValues.get(other));
}

/** Every setting with its value; headers, and credentials in addresses, are masked. */
export function explainSettings({ flags, env, text, path }: Sources): ExplainedSetting[] {
  const read = readYaml(text, path);
  const inFile = (name: string) => {
    if ('faults' in read) return undefined;
    const keys = name.split('.');
    const value = keys.reduce<unknown>(
      (at, key) => (at as Record<string, unknown> | null)?.[key],
      read.value,
    );
    if (value === undefined) return undefined;
    const [fault] = read.placed([{ path: keys, isKey: false, message: '' }]);
    return { value, place: fault ? `${path}:${fault.line}:${fault.column}` : path };
  };
  return settings.map((setting) => {
    const { name, flag, default: usual = null, live = true } = setting;
    const of = (value: unknown, source: ExplainedSetting['source'], place: string | null) => {
      const explained: ExplainedSetting = {
        name,
        value: name === 'storage.url' && value !== null ? withoutPassword(String(value)) : masked(value),
        source,
        place,
        isLive: live,
      };
      writtenValues.set(explained, value);
      return explained;
    };
    const flagged = flag && flags[flag];
    if (flag && flagged !== undefined) return of(flagged, 'flag', optionOf(flag));
    const variable = setting.env?.find((one) => env[one]?.trim());
    if (variable) return of(typed(env[variable] ?? '', usual), 'environment', variable);
    const written = inFile(name);
    if (written) return of(written.value, 'file', written.place);
    return of(usual, 'default', null);
  });
}

/** `--log-level` for `logLevel`. */
function optionOf(flag: string): string {
  return `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function typed(text: string, usual: unknown): unknown {
  return typeof usual === 'number' && /^\d+$/.test(text) ? Number(text) : text;
}

/** A setting with credentials in its addresses and headers masked. */
function masked(value: unknown): unknown {
  if (typeof value === 'string') return isAddress.test(value) ? maskUrl(value) : maskText(value);
  if (Array.isArray(value)) return value.map(masked);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      name === 'headers' && isObject(one) ? maskedHeaders(one) : masked(one),
    ]),
  );
}

const isAddress = /^[a-z][a-z\d+.-]{0,31}:\/\//i;

/** The name of a variable is none of its value. */
function maskedHeaders(headers: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' && !isHarmlessHeader(name) ? removedText : masked(value),
    ]),
  );
}
