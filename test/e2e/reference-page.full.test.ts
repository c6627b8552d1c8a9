import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createConnectionServer } from 'node:net';
import { type Element, type HTMLElement, type HTMLInputElement, Window } from 'happy-dom';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let daemon: RunningDaemon;
let provider: Server;
/** The provider's answers that are not finished; the tests write them. */
const answers: ServerResponse[] = [];
let page: string;
let window: Window;

beforeAll(async () => {
  provider = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    answers.push(response);
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const { port } = provider.address() as AddressInfo;
  daemon = await startDaemon({
    config: `upstreams: [{name: acme, base_url: "http://127.0.0.1:${port}/v1", models: [slow]}]`,
  });
  page = await (await fetch(`${daemon.url}/docs`)).text();
  window = open('#createResponse');
});

afterAll(async () => {
  await window.happyDOM.close();
  for (const answer of answers) answer.destroy();
  provider.close();
  await daemon.stop();
});

/** Opens the page in a browser of its own, which runs its script. */
function open(hash: string, width = 1280): Window {
  const opened = new Window({
    url: `${daemon.url}/docs${hash}`,
    width,
    settings: { enableJavaScriptEvaluation: true, suppressInsecureJavaScriptEnvironmentWarning: true },
  });
  opened.document.write(page);
  return opened;
}

const one = (selector: string, within: Element = window.document.documentElement) => {
  const element = within.querySelector(selector);
  if (!element) throw new Error(`the page has no ${selector}`);
  return element as HTMLElement;
};
const all = (selector: string, within: Element = window.document.documentElement) =>
  [...within.querySelectorAll(selector)] as HTMLElement[];

function type(field: HTMLElement, text: string): void {
  (field as HTMLInputElement).value = text;
  field.dispatchEvent(new window.Event('input', { bubbles: true }));
}

const shown = () => all('.operation').filter(({ hidden }) => !hidden);

/** Opens an endpoint as a link does, and returns its section, as it is at first. */
async function openSection(id: string): Promise<HTMLElement> {
  if (one(`#${id}`).querySelector('.body')) one(`#${id} h3 a`).click();
  one(`nav a[href="#${id}"]`).click();
  const section = one(`#${id}`);
  await expect.poll(() => section.querySelector('.body')).not.toBeNull();
  return section;
}

/** Opens an endpoint and sends a call; returns the elements that show what is received. */
async function tryIt(id: string, { key = daemon.key, body }: { key?: string; body?: unknown } = {}) {
  const section = await openSection(id);
  const form = one('form.try', section);
  type(one('.key', form), key);
  if (body !== undefined) type(one('textarea', form), typeof body === 'string' ? body : JSON.stringify(body));
  one('button[type=submit]', form).click();
  const text = (selector: string) => one(selector, form).textContent;
  return { form, answer: () => text('.answer'), raw: () => text('.raw') };
}

/** The next call of the provider, to be answered piece by piece. */
async function nextAnswer() {
  await expect.poll(() => answers.length).toBeGreaterThan(0);
  const answer = answers.shift() as ServerResponse;
  const head = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'slow' };
  const send = (choice: object, rest = {}) =>
    answer.write(`data: ${JSON.stringify({ ...head, choices: [{ index: 0, ...choice }], ...rest })}\n\n`);
  return {
    response: answer,
    write: (content: string) => send({ delta: { role: 'assistant', content }, finish_reason: null }),
    end() {
      const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
      send({ delta: {}, finish_reason: 'stop' }, { usage });
      answer.end('data: [DONE]\n\n');
    },
  };
}

// First, as the others close what it opens.
test('the section that the address of the page names is open, and closes with another click', () => {
  const section = one('#createResponse');
  expect(section.querySelector('.body')).not.toBeNull();
  expect(one('nav [aria-current]').getAttribute('href')).toBe('#createResponse');
  one('h3 a', section).click();
  expect(section.querySelector('.body')).toBeNull();
});

describe('search', () => {
  const search = () => one('#search');

  test('shows the endpoints whose names have all words, and says how many', () => {
    const before = shown().length;
    type(search(), 'key issue');
    expect(shown().map(({ id }) => id)).toEqual(['issueKey', 'schema-IssuedKey']);
    expect(one('#found').textContent).toBe('2 found by words in their names.');
    const links = all('nav li').filter(({ hidden }) => !hidden);
    expect(links.map((link) => one('a', link).getAttribute('href'))).toEqual([
      '#issueKey',
      '#schema-IssuedKey',
    ]);
    // What is true of all endpoints would fill the first screen.
    expect(one('#about').hidden).toBe(true);
    type(search(), '');
    expect(shown().length).toBe(before);
    expect(one('#about').hidden).toBe(false);
  });

  test('hides groups without results, also those with an open endpoint', async () => {
    await openSection('createResponse');
    type(search(), 'issue key');
    const headings = all('main .group').filter(({ hidden }) => !hidden);
    expect(headings.map((group) => one('h2', group).textContent)).toEqual(['Keys', 'Schemas']);
  });

  test('finds by words of descriptions if no name has them', () => {
    type(search(), 'stainless');
    expect(shown().map(({ id }) => id)).toContain('createResponse');
    expect(one('#found').textContent).toMatch(/^\d+ found by words in their descriptions\.$/);
  });

  test('reports that nothing is found; Escape ends it', () => {
    type(search(), 'zzzz');
    expect(shown()).toEqual([]);
    expect(one('#found').textContent).toBe('Nothing has these words.');
    search().dispatchEvent(new window.KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    expect(shown().length).toBeGreaterThan(100);
  });

  test('a link to an endpoint that it hides shows the endpoint', async () => {
    type(search(), 'issue key');
    window.location.hash = '#listModels';
    await expect.poll(() => one('#listModels').querySelector('.body')).not.toBeNull();
    expect(one('#listModels').hidden).toBe(false);
  });

  test('Enter opens the first result', async () => {
    type(search(), 'issue key');
    search().dispatchEvent(new window.KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    await expect.poll(() => one('#issueKey').querySelector('.body')).not.toBeNull();
  });
});

describe('sections', () => {
  test('members of members are rendered when they are opened', async () => {
    const section = await openSection('createResponse');
    const member = all('details', section).find((it) => it.querySelector(':scope > template'));
    if (!member) throw new Error('no member has members');
    const before = all('.name', member).length;
    one('summary', member).click();
    await expect.poll(() => all('.name', member).length).toBeGreaterThan(before);
  });
});

describe('samples', () => {
  const visible = (section: HTMLElement) => all('figure', section).filter(({ hidden }) => !hidden);
  const choose = (section: HTMLElement, title: string) =>
    all('.tab', section)
      .find((tab) => tab.textContent === title)
      ?.click();

  test('are shown in one of four languages, with the address of the page', async () => {
    const section = await openSection('createResponse');
    const beginnings = {
      curl: `curl -X POST '${daemon.url}/v1/responses'`,
      JavaScript: `baseURL: '${daemon.url}/v1'`,
      Python: `base_url="${daemon.url}/v1"`,
      gateway: 'gateway respond',
    };
    expect(all('.tab', section).map((tab) => tab.textContent)).toEqual(Object.keys(beginnings));
    for (const [title, beginning] of Object.entries(beginnings)) {
      choose(section, title);
      expect(visible(section).map((it) => it.dataset.title)).toEqual([title]);
      expect(one('code', visible(section)[0]).textContent).toContain(beginning);
      expect(all('code span', visible(section)[0]).length, `${title} has colours`).toBeGreaterThan(0);
    }
  });

  test('keep the chosen language for other endpoints', async () => {
    choose(await openSection('createResponse'), 'Python');
    const other = await openSection('createChatCompletion');
    expect(visible(other).map((it) => it.dataset.title)).toEqual(['Python']);
  });

  test('are copied as text', async () => {
    const section = await openSection('createResponse');
    const [figure] = visible(section) as [HTMLElement];
    one('.copy', figure).click();
    await expect.poll(() => one('.copy', figure).textContent).toBe('Copied');
    expect(await window.navigator.clipboard.readText()).toBe(one('code', figure).textContent);
  });
});

describe('Try it', () => {
  const formats = [
    ['createResponse', { input: 'Hi' }],
    ['createChatCompletion', { messages: [{ role: 'user', content: 'Hi' }] }],
    ['createMessage', { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 99 }],
  ] as const;

  test.each(formats)('%s shows a stream as it arrives', async (id, question) => {
    const call = await tryIt(id, { body: { model: 'acme/slow', ...question, stream: true } });
    const stop = one('.stop', call.form);
    const provided = await nextAnswer();
    provided.write('Once upon ');
    // The provider continues only when its first words are on the page.
    await expect.poll(call.answer).toBe('Once upon ');
    expect(call.raw()).toMatch(/^200 OK in \d+ ms · req_/);
    expect(stop.hidden).toBe(false);
    provided.write('a time');
    provided.end();
    await expect.poll(() => stop.hidden).toBe(true);
    expect(call.answer()).toBe('Once upon a time');
  });

  test('Stop ends the call, also at the provider', async () => {
    const body = { model: 'acme/slow', input: 'Hi', stream: true };
    const call = await tryIt('createResponse', { body });
    const provided = await nextAnswer();
    provided.write('Once');
    await expect.poll(call.answer).toBe('Once');
    const closed = once(provided.response, 'close');
    one('.stop', call.form).click();
    await closed;
    await expect.poll(call.raw).toMatch(/\(stopped\)$/);
  });

  test('an answer that fails shows the reason after its first words', async () => {
    const body = { model: 'acme/slow', input: 'Hi', stream: true };
    const call = await tryIt('createResponse', { body });
    const provided = await nextAnswer();
    provided.write('Once');
    await expect.poll(call.answer).toBe('Once');
    provided.response.destroy();
    await expect.poll(call.answer).toMatch(/^Once\n.*acme/s);
  });

  test('sends the example without changes, and shows JSON in colours', async () => {
    const streamed = await tryIt('createResponse');
    await expect.poll(streamed.answer).toContain('built-in simulator');
    const whole = await tryIt('createResponse', { body: { model: 'sim/assistant', input: 'Hi' } });
    await expect.poll(() => all('.raw .name', whole.form).length).toBeGreaterThan(3);
    expect(whole.raw()).toMatch(/^200 OK in \d+ ms · req_\w+ · \$0\n\n\{/);
  });

  test('shows errors of the gateway, and of a body that is not JSON', async () => {
    const refused = await tryIt('createResponse', { key: 'gwk_nonsense' });
    await expect.poll(refused.raw).toMatch(/^401 Unauthorized in.*"unauthenticated"/s);
    const unknown = await tryIt('createResponse', { body: { model: 'acme/nothing', input: 'Hi' } });
    await expect.poll(unknown.raw).toMatch(/^404 Not Found in.*acme\/nothing/s);
    const broken = await tryIt('createResponse', { body: '{"model": ' });
    await expect.poll(broken.raw).toMatch(/^The body is not JSON: /);
  });

  test('shows that the daemon does not answer', async () => {
    const gone = createConnectionServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(gone, 'listening');
    window.happyDOM.setURL(`http://127.0.0.1:${(gone.address() as AddressInfo).port}/docs`);
    const { raw } = await tryIt('listModels');
    await expect.poll(raw).toMatch(/^There is no answer: ./);
    window.happyDOM.setURL(`${daemon.url}/docs`);
    gone.close();
  });

  test('sends the key in the header of calls, to this daemon only; a page that is opened again, on a phone, has none', async () => {
    const fetched = vi.spyOn(window, 'fetch');
    const call = await tryIt('listModels');
    await expect.poll(call.raw).toMatch(/^200 OK/);
    expect(fetched.mock.calls).toEqual([
      ['/v1/models', expect.objectContaining({ credentials: 'omit', cache: 'no-store' })],
    ]);
    expect(fetched.mock.calls[0]?.[1]?.headers).toEqual({ authorization: `Bearer ${daemon.key}` });
    const { localStorage, sessionStorage, document, location } = window;
    const kept = [{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href];
    expect(JSON.stringify(kept)).not.toContain(daemon.key);
    // Nor is it in the document, which extensions and saved pages contain.
    expect(document.documentElement.outerHTML).not.toContain(daemon.key);
    const other = await openSection('createResponse');
    expect((one('.key', other) as HTMLInputElement).value).toBe(daemon.key);
    expect(one('.try', other).textContent).toContain('forgotten when you leave the page');
    // Parsing the page takes longer than all else, so this is also where it is opened on a phone.
    const phone = open('#listModels', 390);
    expect((phone.document.querySelector('#listModels .key') as HTMLInputElement).value).toBe('');
    // There, the list begins on the first screen.
    expect(phone.document.querySelector('#about')?.hasAttribute('open')).toBe(false);
    expect(one('#about').hasAttribute('open')).toBe(true);
    await phone.happyDOM.close();
  });
});
