import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { type RunOptions, runCli } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { addPerson, askDaemon, type Person } from '../../support/users.ts';

let daemon: RunningDaemon;
let ann: Person;

beforeAll(async () => {
  daemon = await startDaemon();
  ann = await addPerson(daemon, 'ann');
});

afterAll(async () => {
  await daemon.stop();
});

const run = (args: string[], options: RunOptions = {}) =>
  runCli(args, { ...options, env: { GATEWAY_HOME: daemon.home, ...options.env } });
const asAnn = () => ({ env: { GATEWAY_HOST: daemon.url, GATEWAY_KEY: ann.login } });
const json = async (args: string[], options: RunOptions = {}) => {
  const { code, stdout, stderr } = await run([...args, '--json'], options);
  expect([code, stderr]).toEqual([0, stderr]);
  return JSON.parse(stdout);
};
const post = (path: string, body: object, as: string) => askDaemon(daemon, 'POST', path, { as, json: body });

describe('whispers', () => {
  test('are sent, shown as a thread, read and counted', async () => {
    expect((await json(['whispers', 'send', 'ann', 'First.'])).recipient.handle).toBe('ann');
    await json(['whispers', 'send', 'ann'], { stdin: 'Piped\nin two lines.\n' });
    const { data } = (await post('/api/whispers', { body: 'Back.', recipientHandle: 'owner' }, ann.login))
      .body;
    const thread = await run(['whispers', 'thread', 'ann']);
    expect(thread.stdout.split('\n').map((line) => line.split('\t').slice(2).join('|'))).toEqual([
      'owner|ann|First.',
      'owner|ann|Piped\\nin two lines.',
      'ann|owner|Back.',
      '',
    ]);
    const byPerson = await run(['whispers', 'list', '--by-person', '--no-color'], { tty: true });
    expect(byPerson.stdout).toMatch(/ann +ann +1 +Back\. +(just now|\d+ min)/);
    expect((await run(['whispers', 'read', String(data.id)])).stderr).toBe(
      `Marked ${data.id} from ann as read.\n`,
    );
    expect((await run(['whispers', 'read', '--all'])).stderr).toBe('Marked 0 as read.\n');
    expect((await json(['whispers', 'list', '--limit', '1']))[0]).toMatchObject({ body: 'Back.' });
  });

  test('show control characters instead of passing them on', async () => {
    await post('/api/whispers', { body: '\u001b[2Jgone\u0007\u202e', recipientHandle: 'owner' }, ann.login);
    for (const args of [
      ['whispers', 'list'],
      ['whispers', 'thread', 'ann'],
    ]) {
      const { stdout } = await run([...args, '--no-color'], { tty: true, columns: 120 });
      expect(stdout).toContain('␛[2Jgone␇<U+202E>');
      expect(stdout).not.toContain('\u001b');
    }
  });

  test.each([
    [['whispers', 'send', 'ann'], exitCodes.usage],
    [['whispers', 'send', 'nobody-here', 'Hello?'], exitCodes.failed],
    [['whispers', 'read'], exitCodes.usage],
    [['whispers', 'read', '1', '--all'], exitCodes.usage],
    [['whispers', 'read', '99999'], exitCodes.failed],
  ])('%j ends with %i', async (args, code) => {
    const result = await run(args);
    expect([result.code, result.stdout]).toEqual([code, '']);
    expect(result.stderr).toMatch(/\S/);
  });
});

test('a whisper to a user who does not exist says so, with similar handles that the sender can list', async () => {
  const { stderr } = await run(['whispers', 'send', 'nobody-here', 'Hello?']);
  expect(stderr).toContain('There is no user "nobody-here".');
  expect(stderr).toContain('gateway workspaces members');
  await json(['whispers', 'send', 'ann', 'Hello.']);
  expect((await run(['whispers', 'send', 'anm', 'Hello?'])).stderr).toContain('Did you mean ann?');
  const listed = await run(['whispers', 'list', '--with', 'nobody-here']);
  expect(listed.stderr).toContain('There is no user "nobody-here".');
});

test('a watch survives a restart of the daemon without missing messages', async () => {
  const home = daemon.home;
  const ctrlC = new AbortController();
  const texts: string[] = [];
  const waiting = new Map<string, () => void>();
  const shown = (text: string) =>
    new Promise<void>((resolve) => {
      waiting.set(text, resolve);
    });
  const tell = (piece: string) => {
    texts.push(piece);
    for (const [text, resolve] of waiting) if (piece.includes(text)) resolve();
  };
  const [following, before, lost, after] = [
    shown('Following'),
    shown('before'),
    shown('lost'),
    shown('after'),
  ];
  const watching = run(['whispers', 'watch', '--jq', '.body'], {
    interrupt: ctrlC.signal,
    onStdout: tell,
    onStderr: tell,
  });
  await following;
  await post('/api/whispers', { body: 'before', recipientHandle: 'owner' }, ann.login);
  await before;
  await daemon.stop({ keep: true });
  await lost;
  daemon = await startDaemon({ home });
  await post('/api/whispers', { body: 'meanwhile', recipientHandle: 'owner' }, ann.login);
  await post('/api/whispers', { body: 'after', recipientHandle: 'owner' }, ann.login);
  await after;
  ctrlC.abort(new Error('interrupted'));
  const { code, stdout } = await watching;
  expect(code).toBe(exitCodes.interrupted);
  expect(stdout.trim().split('\n')).toEqual(['before', 'meanwhile', 'after']);
});

describe('shouts', () => {
  test('are posted, listed by zone and deleted', async () => {
    const { id } = await json(['shouts', 'post', 'Hear me!', '--zone', 'Dev']);
    await json(['shouts', 'post'], { stdin: 'Elsewhere.\n', ...asAnn() });
    const list = await run(['shouts', 'list', '--zone', 'dev', '--no-color'], { tty: true });
    expect(list.stdout).toMatch(
      /ID +ZONE +AUTHOR +TEXT +AT\n +\d+ +dev +owner +Hear me! +(just now|\d+ minutes? ago)\n$/,
    );
    const zones = await run(['zones']);
    expect(zones.stdout).toBe('dev\t1\nglobal\t1\n');
    const refused = await run(['shouts', 'delete', String(id), '--yes'], asAnn());
    expect(refused.code).toBe(exitCodes.refused);
    expect((await run(['shouts', 'delete', String(id)])).code).toBe(exitCodes.usage);
    expect((await run(['shouts', 'delete', String(id), '--yes'])).stderr).toBe(`Deleted ${id}.\n`);
  });

  test('are watched by zone', async () => {
    const ctrlC = new AbortController();
    const started = Promise.withResolvers<void>();
    const watching = run(['shouts', 'watch', '--zone', 'ops'], {
      interrupt: ctrlC.signal,
      onStderr: (text) => text.includes('Following') && started.resolve(),
      onStdout: () => ctrlC.abort(new Error('interrupted')),
    });
    await started.promise;
    await post('/api/shouts', { body: 'not this', zone: 'dev' }, ann.login);
    await post('/api/shouts', { body: 'this', zone: 'ops' }, ann.login);
    const { stdout } = await watching;
    expect(stdout).toMatch(/^\d{4}-.*Z\t\d+\tops\tann\tthis\n$/);
  });
});

test('autopilots are created, changed, listed and archived', async () => {
  const policy = '{"model":"sim/echo"}';
  const made = await json(['autopilots', 'create', 'Night Watch', '--tagline', 'Awake.', '--policy', policy]);
  expect(made).toMatchObject({ handle: 'night-watch', tagline: 'Awake.', policy: { model: 'sim/echo' } });
  const flags = ['--status', 'disabled', '--profile', '{"autopilotVoice":"calm"}', '--name', 'Day Watch'];
  const changed = await json(['autopilots', 'update', 'night-watch', ...flags]);
  expect(changed).toMatchObject({ status: 'disabled', configVersion: 2, displayName: 'Day Watch' });
  expect((await run(['autopilots', 'list', '--quiet'])).stdout).toBe('night-watch\n');
  const shown = await run(['autopilots', 'show', 'night-watch', '--no-color'], { tty: true, columns: 200 });
  expect(shown.stdout).toMatch(/policy +\{"model":"sim\/echo","l402RequireApproval":true\}/);
  expect((await run(['autopilots', 'archive', 'night-watch', '--yes'])).stderr).toBe(
    'Archived night-watch.\n',
  );
  expect((await json(['autopilots', 'list', '--status', 'archived']))[0].id).toBe(made.id);
  const missing = await run(['autopilots', 'show', 'nosuch']);
  expect(missing).toMatchObject({
    code: exitCodes.failed,
    stderr: expect.stringContaining('no autopilot "nosuch"'),
  });
  expect((await run(['autopilots', 'update', 'night-watch'])).code).toBe(exitCodes.usage);
  expect((await run(['autopilots', 'create', 'x', '--policy', '[]'])).code).toBe(exitCodes.usage);
});

test('the profile is shown and changed', async () => {
  const changed = await json(['profile', 'set', '--name', 'Ann Lee', '--email', 'ann@example.com'], asAnn());
  expect(changed).toMatchObject({ name: 'Ann Lee', email: 'ann@example.com', handle: 'ann' });
  const { stdout } = await run(['profile', '--no-color'], { tty: true, ...asAnn() });
  expect(stdout).toMatch(/handle +ann\nname +Ann Lee\nemail +ann@example\.com\n/);
  expect((await run(['profile', 'set'])).code).toBe(exitCodes.usage);
  const wrong = await run(['profile', 'delete', 'other@example.com', '--yes'], asAnn());
  expect([wrong.code, wrong.stderr]).toEqual([exitCodes.failed, expect.stringContaining('not your address')]);
});

test('access tokens are created, listed and revoked, with a warning for the one in use', async () => {
  const made = await run(['tokens', 'create', 'bot', '--ability', 'shouts:write', '--expires', '2099-01-01']);
  const [id = '', secret = ''] = made.stdout.trim().split('\t');
  expect([made.code, id, secret]).toEqual([
    0,
    expect.stringMatching(/^tok_/),
    expect.stringMatching(/^gwt_/),
  ]);
  const list = await run(['tokens', 'list', '--no-color'], { tty: true, columns: 140 });
  expect(list.stdout).toMatch(/tok_\w+ +bot +shouts:write +in 7\d years +never/);
  expect(list.stdout).not.toContain(secret);
  const everything = (await run(['tokens', 'create', 'all', '--quiet'])).stdout.trim();
  const env = { GATEWAY_HOST: daemon.url, GATEWAY_KEY: everything };
  const own = (await json(['tokens', 'list'], { env })).find((it: { isCurrent: boolean }) => it.isCurrent);
  const asked = await run(['tokens', 'revoke', own.id], { env, tty: true, typed: ['n'] });
  expect(asked.stderr).toContain('It is the token in use.');
  expect((await run(['tokens', 'revoke', id, '--yes'])).stderr).toBe(`Revoked ${id}.\n`);
  expect((await run(['tokens', 'revoke', '--all', '--yes'])).stderr).toBe('Revoked 1.\n');
  expect((await run(['tokens', 'list'], { env })).code).toBe(exitCodes.signIn);
});
