import { spawnSync } from 'node:child_process';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { scripts, shells } from '../../../src/cli/commands/completion.ts';
import { manifest } from '../../../src/cli/manifest/manifest.ts';
import { runCli, temporaryHome } from '../../support/run-cli.ts';
import { fail, fakeDaemon } from '../fake-daemon.ts';

/** What the last of the words may become. */
async function suggested(words: string[], env: Record<string, string> = {}): Promise<string[]> {
  const { code, stdout, stderr } = await runCli(['completion', 'bash', '--', ...words], { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.split('\n').flatMap((line) => line.split('\t')[0] || []);
}

describe('suggested words', () => {
  test('start with all commands and their summaries', async () => {
    expect(await suggested([''])).toEqual(Object.keys(manifest));
    const { stdout } = await runCli(['completion', 'zsh', '--', 'stat']);
    expect(stdout).toBe("status\tShow the daemon's status.\n");
  });

  test.each([
    [
      ['keys', 'l'],
      ['list', 'limits'],
    ],
    [['help', 'stat'], ['status']],
    [
      ['traces', 's'],
      ['show', 'search'],
    ],
    [['keys', 'issue', '--sco'], ['--scope']],
    [['keys', 'issue', '--scope', 'models:read', 'usage'], ['usage:read']],
    [['keys', 'issue', '--scope', 'models:read', '--qui'], ['--quiet']],
    [
      ['keys', 'limits', ''],
      ['get', 'set'],
    ],
    [
      ['provider-keys', 'set', 'open'],
      ['openai', 'openrouter'],
    ],
    [['serve', '--log-level=de'], ['--log-level=debug']],
    [['serve', '--config', 'con'], [':files']],
    [['serve', '--record', ''], [':folders']],
    [['respond', 'some', 'words', '--json-'], ['--json-schema']],
    [['respond', '--json', '--json-'], ['--json-schema']],
    [['respond', '--', '--js'], []],
    [['keys', 'list', '--limit', ''], []],
    [['--host', 'local', 'keys', 'rev'], ['revoke']],
    [['--host', ''], ['local']],
    [['--quiet', '--host', 'loc'], ['local']],
    [['--jq', ''], []],
    [
      ['run', 'c'],
      ['claude', 'codex'],
    ],
    [['run', '--model', 'sim/echo', 'aid'], ['aider']],
    [['--ver'], ['--version']],
    [['no-such-command', ''], []],
    [['constructor', ''], []],
  ])('after %j are %j', async (words, expected) => {
    expect((await suggested(words)).sort()).toEqual([...expected].sort());
  });

  test('exclude flags already given, unless they can be repeated', async () => {
    const flags = await suggested(['respond', '--stream', '-f', 'a.txt', '--']);
    expect(flags).toContain('--file');
    expect(flags).toContain('--help');
    expect(flags).not.toContain('--stream');
  });

  test("after a noun with a default verb are its verbs, and that verb's flags", async () => {
    expect(await suggested(['models', ''])).toEqual(['list', 'show', 'refresh']);
    expect(await suggested(['models', '--al'])).toEqual(['--all']);
  });
});

const model = (id: string, kind: string | null) => ({ id, service: { capabilities: { kind } } });

describe('suggested values', () => {
  const keys = '/v1/workspaces/me/keys';

  test('are models, for a flag or an argument', async () => {
    const { env } = await fakeDaemon({
      'GET /v1/models': () => ({
        object: 'list',
        data: [model('sim/echo', 'chat'), model('sim/embedding', 'embedding'), model('openai/gpt-5', null)],
      }),
    });
    expect(await suggested(['respond', '-m', 'sim'], env)).toEqual(['sim/echo']);
    expect(await suggested(['run', 'claude', '-m', 'sim'], env)).toEqual(['sim/echo']);
    expect(await suggested(['embed', '-m', ''], env)).toEqual(['sim/embedding', 'openai/gpt-5']);
    expect(await suggested(['respond', '--model=open'], env)).toEqual(['--model=openai/gpt-5']);
    expect(await suggested(['models', 'show', ''], env)).toEqual([
      'sim/echo',
      'sim/embedding',
      'openai/gpt-5',
    ]);
  });

  test('exclude anything that a shell or terminal interprets', async () => {
    const evil = [
      'a$(id)',
      'a;id',
      'a`id`',
      'a b',
      'a|id',
      'a>b',
      "a'",
      'a"',
      'a\\b',
      'a&',
      '~a',
      '\u001b[2J',
      'a\nb',
    ];
    const data = [...evil, 'qwen3:8b', 'x/y@v1.5+z'].map((id) => model(id, 'chat'));
    const { env } = await fakeDaemon({ 'GET /v1/models': () => ({ object: 'list', data }) });
    expect(await suggested(['models', 'show', ''], env)).toEqual(['qwen3:8b', 'x/y@v1.5+z']);
  });

  test('are the active keys, with their names', async () => {
    const { env } = await fakeDaemon({
      [`GET ${keys}`]: () => ({
        data: [
          { id: 'key_1', name: 'ci\n\u001b[31m', status: 'active' },
          { id: 'key_2', name: 'old', status: 'revoked' },
        ],
        next_cursor: null,
      }),
    });
    const { stdout } = await runCli(['completion', 'fish', '--', 'keys', 'revoke', ''], { env });
    expect(stdout).toBe('key_1\tci [31m\n');
  });

  test('are the configured hosts, without calling a daemon', async () => {
    const home = await temporaryHome();
    await mkdir(home, { recursive: true });
    const hosts = { current: null, hosts: { work: { url: 'https://gateway.example.org' } } };
    await writeFile(join(home, 'hosts.json'), JSON.stringify(hosts));
    expect(await suggested(['keys', 'list', '--host', ''], { GATEWAY_HOME: home })).toEqual([
      'local',
      'work',
    ]);
    expect(await suggested(['host', 'use', 'w'], { GATEWAY_HOME: home })).toEqual(['work']);
  });

  test.each<[string[], string, object, string[]]>([
    [['threads', 'show', ''], '/v1/threads', { id: 'th_1', title: null }, ['th_1']],
    [['respond', '--thread', ''], '/v1/threads', { id: 'th_1', title: 'A' }, ['th_1']],
    [['chats', 'runs', ''], '/api/chats', { id: 'th_1', title: 'A' }, ['th_1']],
    [['autopilots', 'show', ''], '/api/autopilots', { handle: 'watch', displayName: 'W' }, ['watch']],
    [['whispers', 'send', ''], '/api/whispers/threads', { peer: { handle: 'ann', name: 'A' } }, ['ann']],
    [['shouts', 'list', '--zone', ''], '/api/shouts/zones', { zone: 'dev', count24h: 1 }, ['dev']],
    [['tokens', 'revoke', 't'], '/api/tokens', { id: 'tok_1', name: 'ci' }, ['tok_1']],
    [['tokens', 'create', ''], '/api/tokens', { id: 'tok_1', name: 'ci' }, []],
    [['users', 'login-code', ''], '/v1/admin/users', { handle: 'ann', name: 'A' }, ['ann']],
  ])('after %j come from the daemon', async (words, path, row, expected) => {
    const { env } = await fakeDaemon({ [`GET ${path}`]: () => ({ data: [row] }) });
    expect(await suggested(words, env)).toEqual(expected);
  });

  test('are the settings, whether or not a daemon runs', async () => {
    const env = { GATEWAY_HOME: await temporaryHome() };
    expect(await suggested(['config', 'set', 'log.'], env)).toEqual(['log.level']);
  });

  test('come from the host named on the line', async () => {
    const here = await fakeDaemon({});
    const there = await fakeDaemon({ 'GET /v1/models': () => ({ data: [model('there/model', 'chat')] }) });
    const words = ['--host', there.url, 'respond', '-m', ''];
    expect(await suggested(words, here.env)).toEqual(['there/model']);
    expect(here.calls).toEqual([]);
  });

  test.each([
    ['no daemon runs', async () => ({ GATEWAY_HOME: await temporaryHome() })],
    [
      'the daemon refuses',
      async () =>
        (
          await fakeDaemon({
            'GET /v1/models': (_call, response) =>
              fail(response, 403, { code: 'out_of_scope', message: 'The key lacks a scope.' }),
          })
        ).env,
    ],
  ])('are none where %s', async (_why, environment) => {
    expect(await suggested(['respond', '-m', ''], await environment())).toEqual([]);
  });
});

const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0;

test.each(shells.filter(isInstalled))('the script for %s is one', async (shell) => {
  const file = join(await temporaryHome(), 'script');
  await writeFile(file, scripts[shell]);
  const { status, stderr } = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

describe.skipIf(!isInstalled('bash'))('in bash (skipped where it is not installed)', () => {
  /** What a tab makes of a line, with a program that answers the same whatever it is asked. */
  function completed(line: string, answer: string, breaks = '@=:'): { replies: string[]; asked: string[] } {
    const script = [
      'gateway() { printf "%s\\n" "$@" >&2; printf "%b" "$ANSWER"; }',
      // The script keeps what the program says on stderr away from the terminal: here it is what is looked at.
      scripts.bash.replace(' 2>/dev/null)', ')'),
      'COMP_LINE=$LINE COMP_WORDBREAKS=$BREAKS COMP_POINT=$' + '{#LINE}',
      '_gateway',
      'printf "%s\\n" "$' + '{COMPREPLY[@]}"',
    ].join('\n');
    const env = { PATH: process.env.PATH, LINE: line, ANSWER: answer, BREAKS: breaks };
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { env, encoding: 'utf8' });
    const lines = (text: string) => text.replace(/\n$/, '').split('\n');
    return { replies: lines(stdout), asked: lines(stderr) };
  }

  test('the program is asked with the words of the line', () => {
    const { replies, asked } = completed('gateway keys l', 'list\\tList.\\nlimits\\tLimit.\\n');
    expect(asked).toEqual(['completion', 'bash', '--', 'keys', 'l']);
    expect(replies).toEqual(['list', 'limits']);
  });

  test('a space at the end starts an empty word', () => {
    expect(completed('gateway keys ', '').asked).toEqual(['completion', 'bash', '--', 'keys', '']);
  });

  // What readline replaces begins behind the last of these characters.
  test.each([
    ['gateway keys issue --scope models:r', 'models:read', 'read'],
    ['gateway respond -m openrouter/a/b:fr', 'openrouter/a/b:free', 'free'],
    ['gateway serve --log-level=de', '--log-level=debug', 'debug'],
    ['gateway respond -m vertex/claude@20', 'vertex/claude@20260101', '20260101'],
  ])('%s becomes what follows', (line, answer, reply) => {
    expect(completed(line, `${answer}\\t\\n`).replies).toEqual([reply]);
  });

  // kislyuk/argcomplete#88, dsifford/yarn-completion#9
  test('characters at which no word breaks are part of it', () => {
    const line = 'gateway respond -m a/b=c:d@e';
    expect(completed(line, 'a/b=c:d@ef\\t\\n', '=').replies).toEqual(['c:d@ef']);
    expect(completed(line, 'a/b=c:d@ef\\t\\n', ' ').replies).toEqual(['a/b=c:d@ef']);
  });

  test('nothing on the line is executed', async () => {
    const home = await temporaryHome();
    const line = `gateway respond "$(touch ${home}/evil)" \`touch ${home}/evil\` ; touch ${home}/evil`;
    completed(`${line} --`, '$(touch evil)\\t\\n');
    await expect(access(join(home, 'evil'))).rejects.toThrow();
  });
});

// openclaw/openclaw#14289, angular/angular-cli#24430, tw93/Mole#233, urbainvaes/fzf-marks#36
test.skipIf(!isInstalled('zsh')).each([
  ['before compinit', 'eval "$SCRIPT"; autoload -Uz compinit; compinit -D -i'],
  ['after compinit', 'autoload -Uz compinit; compinit -D -i; eval "$SCRIPT"'],
  ['without compinit', 'eval "$SCRIPT"'],
])('in zsh (skipped where it is not installed), the script works %s', async (_when, lines) => {
  const home = await temporaryHome();
  const prompt = 'for each in $precmd_functions; do $each; done; print -r -- $_comps[gateway]';
  const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', `${lines}\n${prompt}`], {
    env: { PATH: process.env.PATH, HOME: home, ZDOTDIR: home, SCRIPT: scripts.zsh },
    encoding: 'utf8',
  });
  expect({ stdout, stderr }).toEqual({ stdout: '_gateway\n', stderr: '' });
});

test.skipIf(!isInstalled('fish'))(
  'in fish (skipped where it is not installed), a tab shows values and what they mean',
  () => {
    const script = `function gateway; printf 'list\\tList the keys.\\nlimits\\t\\n'; end\n${scripts.fish}\ncomplete -C 'gateway keys l'`;
    const { stdout } = spawnSync('fish', ['--no-config', '-c', script], { encoding: 'utf8' });
    expect(stdout.trim().split('\n').sort()).toEqual(['limits', 'list\tList the keys.']);
  },
);
