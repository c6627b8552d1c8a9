import { type HTMLElement, type HTMLInputElement, Window } from 'happy-dom';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { askDaemon } from '../support/users.ts';

let daemon: RunningDaemon;
let page: string;
const windows: Window[] = [];

beforeAll(async () => {
  daemon = await startDaemon();
  page = await (await fetch(`${daemon.url}/login`)).text();
});
afterEach(async () => {
  await Promise.all(windows.splice(0).map((window) => window.happyDOM.close()));
});
afterAll(async () => {
  await daemon.stop();
});

/** Opens the page in a browser of its own, which runs its script. */
function open(hash: string, origin = daemon.url) {
  const window = new Window({
    url: `${origin}/login${hash}`,
    settings: { enableJavaScriptEvaluation: true, suppressInsecureJavaScriptEnvironmentWarning: true },
  });
  windows.push(window);
  window.document.write(page);
  const one = (selector: string) => window.document.querySelector(selector) as HTMLElement;
  const field = (name: string) => one(`input[name=${name}]`) as HTMLInputElement;
  const submit = () => one('#login button').click();
  return { window, one, field, submit, problem: () => one('#problem').textContent };
}

const as = (token: string) => ({
  logins: async () => (await askDaemon(daemon, 'GET', '/v1/sessions', { as: token })).body.data,
  keys: async () => (await askDaemon(daemon, 'GET', '/v1/workspaces/me/keys', { as: token })).body.data,
});
const newCode = async (): Promise<string> =>
  (await askDaemon(daemon, 'POST', '/v1/admin/users/me/login-codes', { as: daemon.login })).body.code;

test('a login link leads to a key, and leaves neither a login nor the code behind', async () => {
  const code = await newCode();
  const { window, one, field, submit } = open(`#${code}`);
  expect(field('code').value).toBe(code);
  expect(window.location.href).toBe(`${daemon.url}/login`);
  field('name').value = 'phone';
  field('cap').value = '0.50';
  submit();
  await expect.poll(() => one('#done').hidden).toBe(false);
  expect(one('#choices').hidden).toBe(true);
  expect(one('#issued').textContent).toMatch(
    /^The key phone of \S+ was created, with at most \$0\.50 per day\.$/,
  );
  expect(one('#base-url').textContent).toBe(`${daemon.url}/v1`);
  const secret = one('#secret').textContent ?? '';
  const shown = await askDaemon(daemon, 'GET', '/v1/key', { as: secret });
  expect(shown.body).toMatchObject({ name: 'phone', limits: { spend_cap: { usd: '0.5', period: 'day' } } });
  expect(await as(daemon.login).logins()).toHaveLength(1);
  expect(one('#left-open').hidden).toBe(true);
});

test('a link shows whose code it contains before it is used, as any page can open one', async () => {
  const { one, field, window } = open(`#${await newCode()}`);
  await expect.poll(() => one('#whose').textContent).toMatch(/^This code is of owner\b.*only if that is you/);
  field('code').value = 'ANOTHER';
  field('code').dispatchEvent(new window.Event('input'));
  expect(one('#whose').textContent).toBe('');
});

test('a wrong code is reported and can be corrected', async () => {
  const { one, field, submit, problem } = open('');
  expect(field('code').value).toBe('');
  field('code').value = 'WRONG-CODE1';
  submit();
  await expect.poll(problem).toMatch(/code/);
  field('code').value = await newCode();
  submit();
  await expect.poll(() => one('#done').hidden).toBe(false);
});

test('after a key that is refused, another can be asked for with the same login; the page ends it when it is left', async () => {
  const { window, field, submit, problem } = open(`#${await newCode()}`);
  const before = (await as(daemon.login).keys()).length;
  field('cap').value = '99999999';
  field('cap').removeAttribute('pattern');
  submit();
  await expect.poll(problem).not.toBe('');
  expect(await as(daemon.login).keys()).toHaveLength(before);
  expect(await as(daemon.login).logins()).toHaveLength(2);
  window.dispatchEvent(new window.Event('pagehide'));
  await expect.poll(() => as(daemon.login).logins()).toHaveLength(1);
});

test('over an unencrypted network it refuses', () => {
  const shown = (origin: string) => {
    const { one } = open('#7K3QM-9XWZ2', origin);
    return { form: !one('#choices').hidden, refusal: !one('#unencrypted').hidden };
  };
  const origins = ['http://10.0.0.7:4100', 'http://localhost.evil.example', 'http://127.0.0.1.evil.example'];
  for (const origin of origins) expect(shown(origin), origin).toEqual({ form: false, refusal: true });
  for (const origin of ['https://gateway.example', 'http://localhost:4100', 'http://127.0.0.1:4100'])
    expect(shown(origin), origin).toEqual({ form: true, refusal: false });
});

test('it sets no cookie', async () => {
  expect((await fetch(`${daemon.url}/login`)).headers.get('set-cookie')).toBeNull();
});
