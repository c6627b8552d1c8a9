import type { Static, TSchema } from 'typebox';

/** Command-line values; undefined ones come from elsewhere. */
export interface ConfigFlags {
  port?: number | undefined;
  workers?: number | undefined;
  host?: string | undefined;
  socket?: string | undefined;
  dataFolder?: string | undefined;
  configFile?: string | undefined;
  simulate?: string | undefined;
  record?: string | undefined;
  replay?: string | undefined;
  replaySpeed?: 'real' | 'instant' | undefined;
  logLevel?: string | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where else a setting can be set, and when it changes. */
interface Sources {
  /** Environment variables; the first one set applies. */
  env?: readonly string[];
  /** The flag of `gateway serve`. */
  flag?: keyof ConfigFlags;
  /** `false` if a change needs a restart. */
  live?: false;
  /** Whether it names a file; in the configuration, relative to its folder. */
  isPath?: true;
  /**
   * Whether it is changed on the machine only: it says where secrets or money go, or what may be reached there. A stolen login
   * could do harm with it that ends with no login.
   */
  isFileOnly?: true;
}

/** A setting of the file: lists and maps with free keys are one. */
export interface Setting<S extends TSchema = TSchema, V = unknown> extends Sources {
  /** Its `description` states the expected value and is quoted in faults. */
  schema: S;
  default: V;
}

export interface Group {
  readonly [name: string]: Group | Setting;
}

export function setting<S extends TSchema>(
  schema: S,
  more: Sources & { default: Static<S> },
): Setting<S, Static<S>>;
export function setting<S extends TSchema>(schema: S, more?: Sources): Setting<S, Static<S> | undefined>;
export function setting(schema: TSchema, more: Partial<Setting> = {}): Setting {
  return { schema, default: undefined, ...more };
}

export function isSetting(node: Group | Setting): node is Setting {
  return 'schema' in node;
}

/** What applies of each setting: the value of its flag, its variables or the file, or its default. */
export type Values<G> = {
  readonly [K in keyof G]: G[K] extends Setting<TSchema, infer V> ? V : Values<G[K]>;
};

/** What the file may contain. */
export type FileOf<G> = { [K in keyof G]?: G[K] extends Setting<infer S> ? Static<S> : FileOf<G[K]> };
