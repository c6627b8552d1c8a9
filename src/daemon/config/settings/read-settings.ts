import { resolve } from 'node:path';
import type { ConfigFault } from '../../../shared/daemon-module.ts';
import { fromHome } from '../../../shared/folders.ts';
import {
  type ConfigFlags,
  type Environment,
  type Group,
  isSetting,
  type Setting,
  type Values,
} from './setting.ts';

/** What schemas of settings with variables consist of. */
interface Form {
  type?: string;
  minimum?: number;
  maximum?: number;
  enum?: readonly string[];
  description?: string;
}

interface SettingSources {
  flags: ConfigFlags;
  env: Environment;
  /** The folder of the file, and the user's, which `~/` stands for. */
  folder: string;
  home: string;
}

/** The value of every setting: flags override the environment, which overrides the file, which overrides the defaults. */
export function readSettings<G extends Group>(
  group: G,
  file: object,
  sources: SettingSources,
  faults: ConfigFault[],
): Values<G> {
  const values = Object.entries(group).map(([name, node]) => {
    const written = (file as Record<string, unknown>)[name];
    const value = isSetting(node)
      ? (elsewhere(node, sources, faults) ?? inFile(node, written, sources) ?? node.default)
      : readSettings(node, written ?? {}, sources, faults);
    return [name, value];
  });
  return Object.fromEntries(values) as Values<G>;
}

function elsewhere(
  { flag, env = [], schema, isPath }: Setting,
  sources: SettingSources,
  faults: ConfigFault[],
): unknown {
  const placed = (value: unknown) =>
    isPath && typeof value === 'string' ? fromHome(value, sources.home) : value;
  const flagged = flag && sources.flags[flag];
  if (flagged !== undefined) return placed(flagged);
  const place = env.find((name) => sources.env[name]?.trim());
  if (place === undefined) return undefined;
  const form = schema as Form;
  const value = valueIn(form, sources.env[place] ?? '');
  if (value === undefined) faults.push({ place, message: `This must be ${form.description}.` });
  return placed(value);
}

/** The value that a text stands for; undefined if it is not valid. The library that checks the file is not loaded for it. */
function valueIn({ type, minimum = 0, maximum = 0, enum: names }: Form, written: string): unknown {
  if (type !== 'integer') return names === undefined || names.includes(written) ? written : undefined;
  const number = Number(written);
  return Number.isInteger(number) && number >= minimum && number <= maximum ? number : undefined;
}

/** Paths in the file are relative to it; those in flags and variables to the working directory. */
function inFile({ isPath }: Setting, value: unknown, { folder, home }: SettingSources): unknown {
  if (!isPath || typeof value !== 'string') return value;
  return resolve(folder, fromHome(value, home));
}
