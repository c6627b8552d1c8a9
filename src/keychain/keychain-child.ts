import { spawnSync } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { faultOf } from './keychain-failure.ts';
import { type KeychainAnswer, type KeychainRequest, service } from './protocol.ts';

/*
 * The only place that loads keytar, as a process of its own: the library can wait for ever for a person, can crash the
 * process it is in, and an ordinary end cannot stop it then. Its functions that list items are never called: on a
 * locked keyring they crash.
 */

const request = JSON.parse(await text(process.stdin)) as KeychainRequest;
// Whoever asked may have been killed: nobody would end this process then.
setTimeout(() => process.kill(process.pid, 'SIGKILL'), request.limitMs + 1_000).unref();

const answer = await serve(request).catch((error: unknown): KeychainAnswer => {
  const detail = error instanceof Error ? error.message : String(error);
  return { ok: false, fault: faultOf(detail), detail };
});
process.stdout.write(JSON.stringify(answer), () => process.exit(0));

async function serve(asked: KeychainRequest): Promise<KeychainAnswer> {
  const { default: keytar } = await import('keytar');
  const { account } = asked;
  if (asked.action === 'set') {
    await keytar.setPassword(service, account, asked.value);
    const kept = await keytar.getPassword(service, account);
    if (kept !== asked.value) return { ok: false, fault: 'not-kept', detail: 'it reads back as another' };
    return { ok: true, value: null };
  }
  if (asked.action === 'get') {
    const value = await keytar.getPassword(service, account);
    return value === null ? nothingFound() : { ok: true, value };
  }
  const wasDeleted = await keytar.deletePassword(service, account);
  return wasDeleted ? { ok: true, value: null, wasDeleted } : nothingFound();
}

/** keytar says the same of a locked keyring and of an item that does not exist. */
function nothingFound(): KeychainAnswer {
  if (isLocked()) return { ok: false, fault: 'locked', detail: 'the default collection is locked' };
  return { ok: true, value: null, wasDeleted: false };
}

/**
 * Whether the default keyring of the Secret Service is locked; false also where nobody can tell, as without D-Bus's own
 * tool. Source: the property `Locked` of org.freedesktop.Secret.Collection.
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
