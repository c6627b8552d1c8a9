import { foldersOf } from '../../shared/folders.ts';

interface Surroundings {
  env: Record<string, string | undefined>;
  platform: string;
  home: string;
}

/** What a person types in another terminal to speak to this daemon. */
export interface TypedCommand {
  /** `gateway`, or `npx gateway` where npm runs it and it is not on the PATH. */
  name: string;
  /** What to type first, so that the commands look into the data folder; undefined where they do so anyway. */
  first: string | undefined;
}

/** Source: npm tells what it runs by `npm_command`. */
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
