/**
 * Where a daemon keeps its things and where a command finds them. Pure: the environment is handed in.
 * Source of the default places: the XDG base directory specification, and the habits of macOS and Windows.
 */
export interface Folders {
  /** Holds the database, the keys' files and `daemon.json`. */
  data: string;
  /** Holds `config.yaml`. */
  config: string;
}

/** Files of the data folder that both the daemon and the commands know. */
export const dataFiles = {
  /** What DaemonFile says, while a daemon runs. */
  daemon: 'daemon.json',
  /** The owner's login key; 0600. */
  login: 'login-key',
  /** The API key named `default`; 0600. */
  defaultKey: 'default-key',
  /** The key that seals reasoning; 0600. */
  dataKey: 'data-key',
  /** What providers told of their models when they were last asked. */
  listings: 'models.json',
} as const;

/** The files of the log, the newest first; not all of them need be there. */
export function logFiles(folder: string): string[] {
  const newest = `${folder}/gateway.log`;
  return [newest, ...[1, 2, 3].map((age) => `${newest}.${age}`)];
}

export interface DaemonFile {
  url: string;
  /** The path of its Unix socket; daemons of earlier versions do not say. */
  socket?: string | null;
  pid: number;
  /** When that process began, as Linux counts it: after a crash another one may have its number. */
  start_ticks?: string | null;
  version: string;
  data_dir: string;
  started_at: string;
}

interface Surroundings {
  env: Record<string, string | undefined>;
  platform: string;
  home: string;
}

/** `GATEWAY_HOME` puts everything into one folder; otherwise each platform's own places are used. */
export function foldersOf({ env, platform, home }: Surroundings): Folders {
  const own = env.GATEWAY_HOME;
  if (own) return { data: own, config: own };
  if (platform === 'darwin') {
    const support = `${home}/Library/Application Support/gateway`;
    return { data: support, config: support };
  }
  if (platform === 'win32') {
    const local = env.LOCALAPPDATA ?? `${home}\\AppData\\Local`;
    return { data: `${local}\\gateway\\data`, config: `${local}\\gateway\\config` };
  }
  return {
    data: `${env.XDG_DATA_HOME || `${home}/.local/share`}/gateway`,
    config: `${env.XDG_CONFIG_HOME || `${home}/.config`}/gateway`,
  };
}
