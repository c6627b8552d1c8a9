import { defaults } from './defaults.ts';
import type { ConfigFile } from './schema.ts';

/** The value at a path such as `listen.port` in the file. */
type At<File, Name extends string> = Name extends `${infer Group}.${infer Rest}`
  ? Group extends keyof File
    ? At<NonNullable<File[Group]>, Rest>
    : never
  : Name extends keyof File
    ? NonNullable<File[Name]>
    : never;

/** The file's value of a setting, or its default. */
export type ReadSetting = <Name extends keyof typeof defaults>(name: Name) => At<ConfigFile, Name>;

export function settingsIn(file: ConfigFile): ReadSetting {
  return <Name extends keyof typeof defaults>(name: Name) => {
    const written = name
      .split('.')
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], file);
    return (written ?? defaults[name]) as At<ConfigFile, Name>;
  };
}
