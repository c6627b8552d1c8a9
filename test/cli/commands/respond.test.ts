import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { runCli, temporaryHome } from '../../support/run-cli.ts';
import { fail, fakeDaemon, sendEvents } from '../fake-daemon.ts';

const service = {
  model: 'sim/assistant',
  provider: 'simulator',
  attempts: [],
  cost: { provider_usd: '0.0001', margin_usd: '0', total_usd: '0.0001' },
  charged_usd: '0.0001',
  own_key: false,
};
const says = (text: string) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
});
const call = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":1}' };
const response = (members: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'sim/assistant',
  output: [says('Hello there')],
  usage: { input_tokens: 1200, output_tokens: 2 },
  incomplete_details: null,
  error: null,
  service,
  ...members,
});
const route = {
  type: 'service:route',
  request_id: 'req_fake',
  model: 'sim/assistant',
  provider: 'simulator',
};
const delta = (text: string) => ({ type: 'response.output_text.delta', delta: text });
const hello = [route, delta('Hello'), delta(' there'), { type: 'response.completed', response: response() }];

const streaming = (events: object[], options?: { done?: boolean }) =>
  fakeDaemon({ 'POST /v1/responses': (_call, reply) => sendEvents(reply, events, options) });
const whole = (answer: object) => fakeDaemon({ 'POST /v1/responses': () => answer });

const ask = ['respond', '--model', 'sim/assistant', 'Hi'];

describe('the answer', () => {
  test('is streamed on a terminal', async () => {
    let pass = (): void => {};
    const seen = new Promise<void>((resolve) => {
      pass = resolve;
    });
    const { env } = await fakeDaemon({
      'POST /v1/responses': async (_call, reply) => {
        await sendEvents(reply, hello.slice(0, 2), { done: false });
        // The rest is sent only after the first words were shown.
        await seen;
        for (const event of hello.slice(2)) reply.write(`data: ${JSON.stringify(event)}\n\n`);
        reply.end('data: [DONE]\n\n');
      },
    });
    const { code, stdout, stderr } = await runCli([...ask, '--no-color'], {
      env,
      tty: true,
      onStdout: (text) => text === 'Hello' && pass(),
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Hello there\n' });
    expect(stderr).toContain('sim/assistant via simulator · 1,200 in, 2 out · $0.0001 · ');
    expect(stderr).toContain('req_fake');
  });

  test('is followed by its cost, wrapped at words on a narrow terminal', async () => {
    const { env } = await streaming(hello);
    const { stderr } = await runCli([...ask, '--no-color'], { env, tty: true, columns: 40 });
    const lines = stderr.slice(stderr.lastIndexOf('sim/assistant via')).trimEnd().split('\n');
    expect(lines[0]).toBe('sim/assistant via simulator · 1,200 in,');
    expect(lines.at(-1)).toMatch(/req_fake$/);
  });

  test('on the workspace’s own provider key says that nothing was charged', async () => {
    const own = { ...service, charged_usd: '0', own_key: true };
    const { env } = await whole(response({ service: own }));
    const { stderr } = await runCli(ask, { env });
    expect(stderr).toContain(' · $0.0001 on your own key, nothing charged · ');
  });

  test('is only the text when piped, with the cost on stderr', async () => {
    const { env, calls } = await whole(response());
    const { code, stdout, stderr } = await runCli(ask, { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Hello there\n' });
    expect(stderr).toContain('$0.0001');
    expect(calls[0]?.body).toEqual({ model: 'sim/assistant', input: 'Hi', stream: false });
  });

  test('prints no cost with --quiet', async () => {
    const { env } = await whole(response());
    expect(await runCli([...ask, '-q'], { env })).toEqual({ code: 0, stdout: 'Hello there\n', stderr: '' });
  });

  test('is the response object with --json, streamed or not', async () => {
    const [one, other] = [await whole(response()), await streaming(hello)];
    const piped = await runCli([...ask, '--json'], { env: one.env });
    const watched = await runCli([...ask, '--json'], { env: other.env, tty: { stderr: true } });
    expect(JSON.parse(piped.stdout)).toEqual(response());
    expect(watched.stdout).toBe(piped.stdout);
  });

  test('is one event per line with --json --stream', async () => {
    const { env } = await streaming(hello);
    const { stdout } = await runCli([...ask, '--json', '--stream'], { env });
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(hello);
  });

  test('prints no warning about fields that only some events have', async () => {
    const { env } = await streaming(hello);
    const { stdout, stderr } = await runCli([...ask, '--json=type,delta', '--stream', '-q'], { env });
    expect(stdout).toContain('{"type":"response.output_text.delta","delta":');
    expect(stderr).toBe('');
  });

  test('prints each function call as a line of JSON', async () => {
    const output = [says('Let me look.'), call];
    const { env } = await whole(response({ output }));
    const { stdout } = await runCli(ask, { env });
    expect(stdout.split('\n')[0]).toBe('Let me look.');
    expect(JSON.parse(stdout.split('\n')[1] ?? '')).toEqual(call);
  });

  test('cannot control the terminal, and is unchanged when piped', async () => {
    const hostile = '\u001b[2Jhi';
    const { env } = await fakeDaemon({
      'POST /v1/responses': ({ body }, reply) =>
        (body as { stream: boolean }).stream
          ? sendEvents(reply, [delta(hostile), { type: 'response.completed', response: response() }])
          : response({ output: [says(hostile)] }),
    });
    expect((await runCli(ask, { env, tty: true })).stdout).toBe('␛[2Jhi\n');
    expect((await runCli(ask, { env })).stdout).toBe('\u001b[2Jhi\n');
  });
});

describe('a failed answer', () => {
  test('before it started exits with its own code', async () => {
    const { env } = await fakeDaemon({
      'POST /v1/responses': (_call, reply) =>
        fail(reply, 402, { code: 'insufficient_balance', message: 'No credit.' }),
    });
    expect(await runCli([...ask, '--stream'], { env })).toMatchObject({ code: exitCodes.pay, stdout: '' });
  });

  test('after its first words keeps them, prints cause and cost, and exits 7', async () => {
    const failed = response({ status: 'failed', error: { code: 'upstream_failed', message: 'It broke.' } });
    const error = { type: 'upstream_failed', code: 'upstream_failed', message: 'It broke.', param: null };
    const { env } = await streaming([
      ...hello.slice(0, 2),
      { type: 'error', error },
      { type: 'response.failed', response: failed },
    ]);
    const { code, stdout, stderr } = await runCli([...ask, '--stream'], { env });
    expect({ code, stdout }).toEqual({ code: exitCodes.partlyDone, stdout: 'Hello\n' });
    expect(stderr).toContain('error: It broke.');
    expect(stderr).toContain('$0.0001');
    expect(stderr).toContain('req_fake');
  });

  test('not streamed, with some text, exits 7', async () => {
    const { env } = await whole(
      response({ status: 'failed', error: { code: 'upstream_failed', message: 'It broke.' } }),
    );
    const { code, stdout } = await runCli([...ask, '--no-stream'], { env });
    expect({ code, stdout }).toEqual({ code: exitCodes.partlyDone, stdout: 'Hello there\n' });
  });

  test('not streamed, without text, exits with its own code', async () => {
    const failed = response({
      status: 'failed',
      error: { code: 'model_error', message: 'It broke.' },
      output: [],
    });
    const { env } = await whole(failed);
    expect((await runCli([...ask, '--json'], { env })).code).toBe(exitCodes.tryLater);
  });

  test('that is incomplete exits 7', async () => {
    const { env } = await whole(
      response({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }),
    );
    const { code, stdout, stderr } = await runCli(ask, { env });
    expect({ code, stdout }).toEqual({ code: exitCodes.partlyDone, stdout: 'Hello there\n' });
    expect(stderr).toContain('max_output_tokens');
  });

  test.each([
    ['ends without a last event', (reply: ServerResponse) => reply.end()],
    ['breaks off', (reply: ServerResponse) => reply.destroy()],
  ])('whose stream %s after some words exits 7', async (_how, end) => {
    const { env } = await fakeDaemon({
      'POST /v1/responses': async (_call, reply) => {
        await sendEvents(reply, hello.slice(0, 2), { done: false });
        setImmediate(() => end(reply));
      },
    });
    expect((await runCli([...ask, '--stream'], { env })).code).toBe(exitCodes.partlyDone);
  });

  test('whose stream is lost before its first word exits 6', async () => {
    const { env } = await fakeDaemon({
      'POST /v1/responses': async (_call, reply) => {
        await sendEvents(reply, hello.slice(0, 1), { done: false });
        setImmediate(() => reply.destroy());
      },
    });
    expect((await runCli([...ask, '--stream'], { env })).code).toBe(exitCodes.tryLater);
  });
});

describe('Ctrl-C', () => {
  test('cancels the call upstream, prints its cost and exits 130', async () => {
    const ctrlC = new AbortController();
    let asked = 0;
    let left = false;
    const usage = {
      request_id: 'req_fake',
      model: 'sim/assistant',
      tokens: { input: 10, output: 3 },
      charged_usd: '0.00002',
    };
    const { env } = await fakeDaemon({
      'POST /v1/responses': async (_call, reply) => {
        reply.on('close', () => {
          left = true;
        });
        await sendEvents(reply, hello.slice(0, 2), { done: false });
      },
      // The bill is there a moment after the reader has left.
      'GET /v1/usage/req_fake': (_call, reply) => {
        asked += 1;
        return left && asked > 1 ? usage : fail(reply, 404, { code: 'not_found', message: 'Not yet.' });
      },
    });
    const { code, stdout, stderr } = await runCli([...ask, '--stream'], {
      env,
      interrupt: ctrlC.signal,
      onStdout: () => ctrlC.abort(new Error('interrupted')),
    });
    expect({ code, stdout, left }).toEqual({ code: exitCodes.interrupted, stdout: 'Hello\n', left: true });
    expect(stderr).toContain('Cancelled. sim/assistant · 10 in, 3 out · $0.00002 · req_fake');
  });

  test('before an answer says where to find the cost', async () => {
    const ctrlC = new AbortController();
    const { env } = await fakeDaemon({
      'POST /v1/responses': (_call, _reply, request) =>
        new Promise((resolve) => {
          request.socket.on('close', resolve);
          ctrlC.abort(new Error('interrupted'));
        }),
    });
    const { code, stderr } = await runCli(ask, { env, interrupt: ctrlC.signal });
    expect(code).toBe(exitCodes.interrupted);
    expect(stderr).toContain('gateway usage');
  });
});

describe('the question', () => {
  const bodyOf = async (args: string[], options: { stdin?: string | Uint8Array } = {}) => {
    const { env, calls } = await whole(response());
    const result = await runCli(['respond', '--model', 'm', ...args], { env, ...options });
    expect(result.code).toBe(0);
    return calls[0]?.body as Record<string, unknown>;
  };

  test('is the prompt, then the piped input', async () => {
    expect((await bodyOf(['Summarise', 'this.'], { stdin: 'a\nb\n' })).input).toBe('Summarise this.\n\na\nb');
    expect((await bodyOf([], { stdin: 'alone\n' })).input).toBe('alone');
    expect((await bodyOf(['Hi', '--no-stdin'], { stdin: 'the rest of a loop' })).input).toBe('Hi');
  });

  test('is the piped input where - stands for it', async () => {
    expect((await bodyOf(['-'], { stdin: 'alone\n' })).input).toBe('alone');
    expect((await bodyOf(['What is this?', '-f', '-'], { stdin: 'a,b\n' })).input).toEqual([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is this?' },
          { type: 'input_text', text: 'standard input:\n\na,b\n' },
        ],
      },
    ]);
    const nothing = await runCli(['respond', '--model', 'm', 'Hi', '-f', '-'], { stdin: '' });
    expect(nothing).toMatchObject({
      code: exitCodes.usage,
      stderr: expect.stringContaining('Nothing was piped in'),
    });
  });

  test('is an attachment where what is piped in is an image or a PDF', async () => {
    const png = Buffer.from('\u0089PNG\r\n\u001a\n\0\0\u00ff', 'latin1');
    const data = `data:image/png;base64,${png.toString('base64')}`;
    expect((await bodyOf(['What is this?'], { stdin: png })).input).toEqual([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is this?' },
          { type: 'input_image', image_url: data },
        ],
      },
    ]);
  });

  test('must be text otherwise, but for single bytes', async () => {
    const log = Buffer.from('caf\u00e9 failed', 'latin1');
    expect((await bodyOf(['Why?'], { stdin: log })).input).toBe('Why?\n\ncaf\ufffd failed');
    const program = Buffer.from('\u007fELF\u0002\u0001\0\0', 'latin1');
    const { code, stderr } = await runCli(['respond', '--model', 'm', 'Why?'], { stdin: program });
    expect([code, stderr]).toEqual([exitCodes.usage, 'error: What was piped in is not text.\n']);
  });

  test('must not be empty', async () => {
    const { code, stderr } = await runCli(['respond', '--model', 'm'], { stdin: '' });
    expect(code).toBe(exitCodes.usage);
    expect(stderr).toContain('Nothing to ask');
  });

  test('carries every flag', async () => {
    const flags =
      '--instructions Brief. --max-output-tokens 99 --temperature 0.2 --reasoning-effort low --provider-key mine --cache read-write --no-store';
    expect(await bodyOf(['Hi', ...flags.split(' '), '--previous', 'resp_0'])).toEqual({
      model: 'm',
      input: 'Hi',
      stream: false,
      instructions: 'Brief.',
      max_output_tokens: 99,
      temperature: 0.2,
      reasoning: { effort: 'low' },
      service: { pay: 'mine', cache: 'read-write' },
      store: false,
      previous_response_id: 'resp_0',
    });
  });

  const png = Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1');

  test('names a file that a model cannot read, or that is too large', async () => {
    const home = await temporaryHome();
    const refused = async (name: string, data: string | Uint8Array) => {
      await writeFile(join(home, name), data);
      return runCli(['respond', '--model', 'm', 'Hi', '--file', join(home, name)]);
    };
    // By what it contains, whatever it is called.
    for (const name of ['blob.bin', 'not-really.png']) {
      const { code, stderr } = await refused(name, new Uint8Array([0, 255]));
      expect(code).toBe(exitCodes.usage);
      expect(stderr).toContain(`${name} is neither text, a PDF, nor a PNG, JPEG, GIF or WebP image.`);
    }
    const { code, stderr } = await refused('long.txt', 'x'.repeat(21 * 1024 * 1024 + 1));
    expect(code).toBe(exitCodes.usage);
    expect(stderr).toMatch(/Too large: .*long\.txt: at most 21 MiB can be attached\./);
    expect(
      (await refused('.', '').catch(() => runCli(['respond', '--model', 'm', '--file', home]))).stderr,
    ).toContain(`${home} is a folder.`);
  });

  test('refuses files that are too large together', async () => {
    const path = join(await temporaryHome(), 'a third.txt');
    await writeFile(path, 'x'.repeat(8 * 1024 * 1024));
    const files = [path, path, path].flatMap((each) => ['--file', each]);
    const { code, stderr } = await runCli(['respond', '--model', 'm', 'Hi', ...files]);
    expect(code).toBe(exitCodes.usage);
    expect(stderr).toContain('Too large: the files: at most 21 MiB can be attached.');
  });

  test('includes files: images and documents as data, text as text', async () => {
    const home = await temporaryHome();
    const file = async (name: string, data: string | Uint8Array) => {
      await writeFile(join(home, name), data);
      return ['--file', join(home, name)];
    };
    const { input } = await bodyOf([
      ...(await file('cat', png)),
      ...(await file('paper.pdf', '%PDF-1.7')),
      ...(await file('notes.md', '# Notes')),
      'What are these?',
    ]);
    expect(input).toEqual([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'What are these?' },
          { type: 'input_image', image_url: `data:image/png;base64,${png.toString('base64')}` },
          {
            type: 'input_file',
            filename: 'paper.pdf',
            file_data: 'data:application/pdf;base64,JVBERi0xLjc=',
          },
          { type: 'input_text', text: 'notes.md:\n\n# Notes' },
        ],
      },
    ]);
  });

  test('includes a schema and tools from files', async () => {
    const home = await temporaryHome();
    const schema = { type: 'object', properties: {} };
    const tools = [{ type: 'function', name: 'look' }];
    await writeFile(join(home, 'my answer.json'), JSON.stringify(schema));
    await writeFile(join(home, 'tools.json'), JSON.stringify({ tools }));
    const body = await bodyOf([
      'Hi',
      '--json-schema',
      join(home, 'my answer.json'),
      '--tools',
      join(home, 'tools.json'),
    ]);
    expect(body.text).toEqual({ format: { type: 'json_schema', name: 'my_answer', schema, strict: true } });
    expect(body.tools).toEqual(tools);
  });

  test.each(['--file', '--tools', '--json-schema'])('with a missing %s file exits 2', async (flag) => {
    const { code, stderr } = await runCli(['respond', '--model', 'm', 'Hi', flag, '/nonexistent/x']);
    expect(code).toBe(exitCodes.usage);
    expect(stderr).toContain('The file /nonexistent/x does not exist.');
  });

  const status = (given: object) => ({
    version: '0.1.0',
    writable: true,
    default_model: 'sim/assistant',
    default_model_source: 'simulator',
    suggested_model: null,
    providers: [],
    ...given,
  });

  test("goes to GATEWAY_MODEL, else to the daemon's default, also with a key", async () => {
    const { env, calls } = await fakeDaemon({
      'POST /v1/responses': () => response(),
      'GET /v1/status': () => status({ default_model: 'the/default', default_model_source: 'configuration' }),
    });
    await runCli(['respond', 'Hi'], { env: { ...env, GATEWAY_MODEL: 'my/model' } });
    await runCli(['respond', 'Hi'], { env });
    const { stderr } = await runCli(['respond', 'Hi'], { env: { ...env, GATEWAY_KEY: 'gwk_x' } });
    const models = calls.flatMap(({ body }) => (body ? [(body as { model: string }).model] : []));
    expect(models).toEqual(['my/model', 'the/default', 'the/default']);
    expect(stderr).not.toContain('default_model');
  });

  test('names a model that nobody chose, and the price of another', async () => {
    let now = status({ suggested_model: 'acme/large' });
    const { env } = await fakeDaemon({
      'POST /v1/responses': () => response(),
      'GET /v1/status': () => now,
      'GET /v1/models/acme/large': () => ({
        id: 'acme/large',
        service: { prices: { input: '0.25', output: '2' } },
      }),
    });
    expect((await runCli(['respond', 'Hi'], { env })).stderr).toContain(
      'No default_model is set, so sim/assistant answers: the built-in simulator. To ask another: ' +
        'gateway config set default_model acme/large ($0.25 in and $2 out per million tokens)\n',
    );
    now = status({ default_model: 'ollama/qwen3', default_model_source: 'local_server' });
    expect((await runCli(['respond', 'Hi'], { env })).stderr).toContain(
      'so ollama/qwen3 answers: a local model. To keep it: gateway config set default_model ollama/qwen3\n',
    );
    now = status({});
    expect((await runCli(['respond', 'Hi'], { env })).stderr).not.toContain('default_model');
  });
});

describe('a stored response', () => {
  test('is shown as its text or as JSON', async () => {
    const { env } = await fakeDaemon({ 'GET /v1/responses/resp_1': () => response() });
    expect((await runCli(['responses', 'get', 'resp_1'], { env })).stdout).toBe('Hello there\n');
    const { stdout } = await runCli(['responses', 'get', 'resp_1', '--json=id,status'], { env });
    expect(stdout).toBe('{"id":"resp_1","status":"completed"}\n');
  });

  test('is deleted only after confirmation', async () => {
    const { env, calls } = await fakeDaemon({
      'GET /v1/responses/resp_1': () => response(),
      'DELETE /v1/responses/resp_1': () => ({ id: 'resp_1', object: 'response', deleted: true }),
    });
    const command = ['responses', 'delete', 'resp_1'];
    expect((await runCli(command, { env, stdin: '' })).code).toBe(exitCodes.usage);
    expect(calls.map(({ method }) => method)).not.toContain('DELETE');
    expect((await runCli([...command, '--yes'], { env, stdin: '' })).code).toBe(0);
  });
});

describe('generated images', () => {
  const pixels = Buffer.from('not really a PNG');
  const picture = { type: 'image_generation_call', status: 'completed', result: pixels.toString('base64') };
  const drawn = { ...picture, id: 'ig_1', output_format: 'png' };
  const answer = response({ output: [says('Here.'), drawn, { ...drawn, id: '../ig_2' }] });

  test('are saved to a new folder, and their paths printed', async () => {
    const { env, home } = await whole(answer);
    const folder = join(home, 'new', 'drawn');
    const { stdout, stderr, code } = await runCli([...ask, '--pictures', folder], { env });
    expect({ stdout, code }).toEqual({ stdout: 'Here.\n', code: 0 });
    expect(await readdir(folder)).toEqual(['___ig_2.png', 'ig_1.png']);
    expect(await readFile(join(folder, 'ig_1.png'))).toEqual(pixels);
    expect(stderr).toContain(join(folder, 'ig_1.png'));
  });

  test('that cannot be saved are reported after the answer', async () => {
    const { env, home } = await whole(answer);
    const folder = join(home, 'drawn');
    await mkdir(folder);
    await writeFile(join(folder, 'ig_1.png'), 'mine');
    const { stdout, stderr, code } = await runCli([...ask, '--pictures', folder], { env });
    expect({ stdout, code }).toEqual({ stdout: 'Here.\n', code: exitCodes.partlyDone });
    expect(stderr).toContain('EEXIST');
    expect(await readFile(join(folder, 'ig_1.png'), 'utf8')).toBe('mine');
  });

  test('are mentioned if no folder is given', async () => {
    const { env } = await whole(answer);
    expect((await runCli(ask, { env })).stderr).toContain('Save them with --pictures FOLDER');
  });

  test.each(['get', 'watch'])('are also saved by responses %s', async (verb) => {
    const last = { type: 'response.completed', sequence_number: 6, response: answer };
    const { env, home } = await fakeDaemon({
      'GET /v1/responses/resp_1': ({ path }, reply) =>
        path.includes('stream=true') ? sendEvents(reply, [last]) : answer,
    });
    const folder = join(home, 'drawn');
    const command = ['responses', verb, 'resp_1', '--pictures', folder];
    const { stdout, code } = await runCli(command, { env });
    expect({ stdout, code }).toEqual({ stdout: 'Here.\n', code: 0 });
    expect(await readFile(join(folder, 'ig_1.png'))).toEqual(pixels);
  });

  test('cannot be combined with --background', async () => {
    const { env, home, calls } = await whole(answer);
    const folder = join(home, 'drawn');
    const { code, stderr } = await runCli([...ask, '--background', '--pictures', folder], { env });
    expect({ code, calls }).toEqual({ code: exitCodes.usage, calls: [] });
    expect(stderr).toContain('gateway responses watch ID --pictures FOLDER');
  });

  test('fail before the call if their folder cannot be created', async () => {
    const { env, home, calls } = await whole(answer);
    const file = join(home, 'taken');
    await writeFile(file, '');
    const { code, stderr } = await runCli([...ask, '--pictures', join(file, 'drawn')], { env });
    expect({ code, calls }).toEqual({ code: exitCodes.usage, calls: [] });
    expect(stderr).toContain('Cannot create the folder');
  });
});
