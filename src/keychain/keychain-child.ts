import { spawnSync } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { faultOf } from './keychain-failure.ts';
import { type KeychainAnswer, type KeychainRequest, service, started } from './protocol.ts';

/*
 * The only module that loads keytar, in a separate process: the library can block forever on a prompt, crash its
 * process, and prevent a normal exit. Its listing functions are never called: they crash on a locked keyring.
 */

const request = JSON.parse(await text(process.stdin)) as KeychainRequest;
const answer = await serve(request).catch((error: unknown): KeychainAnswer => {
  const detail = error instanceof Error ? error.message : String(error);
  return { ok: false, fault: faultOf(detail), detail };
});
process.stdout.write(JSON.stringify(answer), () => process.exit(0));

async function serve(asked: KeychainRequest): Promise<KeychainAnswer> {
  const { default: keytar } = await import('keytar');
  process.stdout.write(started);
  // The parent may have been killed, and would never end this process.
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), asked.limitMs + 1_000).unref();
  const { account } = asked;
  if (asked.action === 'set') {
    await keytar.setPassword(service, account, asked.value);
    const kept = await keytar.getPassword(service, account);
    if (kept !== asked.value) return { ok: false, fault: 'not-kept', detail: 'the value read back differs' };
    return { ok: true, value: null };
  }
  if (asked.action === 'get') {
    const value = await keytar.getPassword(service, account);
    return value === null ? nothingFound() : { ok: true, value };
  }
  const wasDeleted = await keytar.deletePassword(service, account);
  return wasDeleted ? { ok: true, value: null, wasDeleted } : nothingFound();
}

/** keytar does not distinguish a locked keyring from a missing item. */
function nothingFound(): KeychainAnswer {
  if (isLocked()) return { ok: false, fault: 'locked', detail: 'the default collection is locked' };
  return { ok: true, value: null, wasDeleted: false };
}

/**
 * Whether the default keyring of the Secret Service is locked; false if unknown, for example without D-Bus's own tool.
 * Source: the property `Locked` of org.freedesktop.Secret.Collection.
 */
function isLocked(): boolean {
  if (process.platform !== 'linux') return false;
  const { stdout } = spawnSync(
    'dbus-send',
    [
      '--session',
      '--print-reply',
      '--reply-timeout=1000',
      '--dest=org.freedesktop.secrets',
      '/org/freedesktop/secrets/aliases/default',
      'org.freedesktop.DBus.Properties.Get',
      'string:org.freedesktop.Secret.Collection',
      'string:Locked',
    ],
    { encoding: 'utf8', timeout: 1_500, stdio: ['ignore', 'pipe', 'ignore'] },
  );
  return /boolean true/.test(stdout ?? '');
}
