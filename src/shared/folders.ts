/**
 * Where a daemon stores its files and where a command finds them. Pure: the environment is a parameter. Source of the
 * defaults: the XDG base directory specification and the conventions of macOS and Windows.
 */
export interface Folders {
  /** Contains the database, the key files and `daemon.json`. */
  data: string;
  /** Contains `config.yaml`. */
  config: string;
}

/** Files of the data folder that both the daemon and the commands use. */
export const dataFiles = {
  /** A `DaemonFile`; present while a daemon runs. */
  daemon: 'daemon.json',
  /** The owner's login key; 0600. */
  login: 'login-key',
  /** The API key named `default`; 0600. */
  defaultKey: 'default-key',
  /** The key that seals reasoning; 0600. */
  dataKey: 'data-key',
  /** The model listings last fetched from providers. */
  listings: 'models.json',
  /** A page that leads the browser to a sign-in link; 0600. */
  redirect: 'open.html',
  /** The models of the embedded engine. */
  engineModels: 'engine-models.json',
} as const;

/** The content of calls, where it is kept on disk. */
export function contentFile(folder: string): string {
  return `${folder}/content.db`;
}

/** The log files, newest first; older ones may not exist. */
export function logFiles(folder: string): string[] {
  const newest = `${folder}/gateway.log`;
  return [newest, ...[1, 2, 3].map((age) => `${newest}.${age}`)];
}

export interface DaemonFile {
  url: string;
  /** The path of its Unix socket; absent in files of earlier versions. */
  socket?: string | null;
  pid: number;
  /** The start time of the process in Linux clock ticks: after a crash, another process may have the same pid. */
  start_ticks?: string | null;
  version: string;
  data_dir: string;
  /** The device and inode of the data folder, by which it is known where it has another name; absent in files of earlier versions. */
  data_inode?: string;
  started_at: string;
}

/** See `DaemonFile.data_inode`. */
export function inodeOf({ dev, ino }: { dev: number; ino: number }): string {
  return `${dev}:${ino}`;
}

/** The inputs that determine where the folders are. */
export interface Environment {
  env: Record<string, string | undefined>;
  platform: string;
  home: string;
}

/** A base folder of the XDG specification, which has relative ones ignored. */
export function baseFolder(path: string | undefined): string | undefined {
  return path?.startsWith('/') ? path : undefined;
}

/** A path in the user's folder, which a shell would have read: from a variable or a file, or after `--data=`. */
export function fromHome(path: string, home: string): string {
  return /^~(?=[/\\]|$)/.test(path) ? home + path.slice(1) : path;
}

/** `GATEWAY_HOME` puts everything into one folder; otherwise each platform's conventions apply. */
export function foldersOf({ env, platform, home }: Environment): Folders {
  const own = env.GATEWAY_HOME && fromHome(env.GATEWAY_HOME, home);
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
    data: `${baseFolder(env.XDG_DATA_HOME) ?? `${home}/.local/share`}/gateway`,
    config: `${baseFolder(env.XDG_CONFIG_HOME) ?? `${home}/.config`}/gateway`,
  };
}
