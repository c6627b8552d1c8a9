import {
  closeSync,
  type FSWatcher,
  openSync,
  realpathSync,
  type Stats,
  unwatchFile,
  watch,
  watchFile,
} from 'node:fs';
import { resolve } from 'node:path';

interface WatchDeps {
  /** The configuration file; it need not exist. */
  file: string;
  /** Calls its argument with the files that secrets are read from, now and whenever they are others. */
  followSecretFiles?: (apply: (paths: readonly string[]) => void) => void;
  reload: () => Promise<void>;
  /** Called when the terminal that started the daemon is gone. */
  onHangUp: () => void;
  isOnTerminal: boolean;
}

/** Editors write a file in several steps. */
const settleMs = 200;
const pollMs = 2_000;

/** Reloads on SIGHUP and when the file or one with a secret changes, until the returned function is called. */
export function watchConfig({
  file,
  followSecretFiles,
  reload,
  onHangUp,
  isOnTerminal,
}: WatchDeps): () => void {
  let timer: NodeJS.Timeout | undefined;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void reload(), settleMs).unref();
  };
  const watched = new Map<string, () => void>();
  const watchSecrets = (paths: readonly string[]) => {
    for (const [path, unwatch] of watched) {
      if (paths.includes(path)) continue;
      unwatch();
      watched.delete(path);
    }
    for (const path of paths) if (!watched.has(path)) watched.set(path, watchName(path, soon));
  };
  const onSignal = () => {
    if (isOnTerminal && !hasTerminal()) onHangUp();
    else void reload();
  };
  process.on('SIGHUP', onSignal);
  const unwatch = watchName(file, soon);
  followSecretFiles?.(watchSecrets);
  return () => {
    followSecretFiles?.(() => {});
    watchSecrets([]);
    process.off('SIGHUP', onSignal);
    clearTimeout(timer);
    unwatch();
  };
}

/**
 * Watches the file itself, and polls for it while there is none. The folder is often that of the database: watching it would
 * wake the daemon for each of its own writes. A file behind a link is polled, too: to exchange the link changes no file.
 */
function watchName(file: string, changed: () => void): () => void {
  let watcher: FSWatcher | undefined;
  const follow = (): boolean => {
    watcher?.close();
    try {
      watcher = watch(file, { persistent: false }, (event) => {
        changed();
        // Editors replace the file.
        if (event === 'rename') start();
      });
      watcher.on('error', start);
      return true;
    } catch {
      watcher = undefined;
      return false;
    }
  };
  const onPolled = ({ nlink }: Stats) => {
    if (nlink === 0 || !follow()) return;
    if (!isLinked(file)) unwatchFile(file, onPolled);
    changed();
  };
  const poll = () => {
    // Twice would be polled twice.
    unwatchFile(file, onPolled);
    watchFile(file, { interval: pollMs, persistent: false }, onPolled);
  };
  const start = () => {
    if (!follow() || isLinked(file)) poll();
  };
  start();
  return () => {
    watcher?.close();
    unwatchFile(file, onPolled);
  };
}

function isLinked(file: string): boolean {
  try {
    return realpathSync(file) !== resolve(file);
  } catch {
    return false;
  }
}

/** Source: tty(4): opening `/dev/tty` fails for a process without a controlling terminal. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}
