import { foldersOf } from '../../shared/folders.ts';

interface Surroundings {
  env: Record<string, string | undefined>;
  platform: string;
  home: string;
}

/** How to invoke commands for this daemon from another terminal. */
export interface TypedCommand {
  /** `gateway`, or `npx gateway` if npm runs it and it is not on the PATH. */
  name: string;
  /** The command that sets GATEWAY_HOME for this data folder; undefined if not needed. */
  first: string | undefined;
}

/** Source: npm sets `npm_command`. */
export function typedCommand(dataFolder: string, { env, platform, home }: Surroundings): TypedCommand {
  const usual = foldersOf({ env: { ...env, GATEWAY_HOME: undefined }, platform, home }).data;
  const name = env.npm_command === 'exec' ? 'npx gateway' : 'gateway';
  if (dataFolder === usual) return { name, first: undefined };
  return { name, first: platform === 'win32' ? `set GATEWAY_HOME=${dataFolder}` : exported(dataFolder) };
}

function exported(folder: string): string {
  const isPlain = /^[\w./-]+$/.test(folder);
  return `export GATEWAY_HOME=${isPlain ? folder : `'${folder.replaceAll("'", "'\\''")}'`}`;
}
