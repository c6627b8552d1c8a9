import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../src/shared/contract/endpoint.ts';
import { answerableCodes } from '../../src/shared/contract/openapi.ts';
import { version } from '../../src/shared/version.ts';
import { documentedPath, endpoints } from '../support/endpoints.ts';
import { dropIdleConnections, type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let daemon: RunningDaemon;
let answer: Response;
let page: string;
let description: { components: { schemas: object }; paths: Record<string, object> };

beforeAll(async () => {
  daemon = await startDaemon();
  answer = await fetch(`${daemon.url}/docs`);
  page = await answer.text();
  description = (await (await fetch(`${daemon.url}/v1/openapi.json`)).json()) as typeof description;
});

afterAll(async () => {
  await daemon.stop();
});

const unescaped = (text: string) =>
  text.replace(
    /&(amp|lt|gt|quot|#39);/g,
    (it) => ({ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' })[it] ?? "'",
  );
const inner = (tag: string) => new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(page)?.[1] ?? '';
/** The part of the page that is about an endpoint or a schema. */
const sectionOf = (id: string) =>
  unescaped(new RegExp(`<section class="operation" id="${id}".*?</section>`, 's').exec(page)?.[0] ?? '');

/** The pages that run a script, with the file that contains it. */
const scripted = [
  ['/docs', 'reference-page.js'],
  ['/login', 'login-page.js'],
] as const;

describe.each(scripted)('%s', (path, script) => {
  let answer: Response;
  let page: string;
  const inner = (tag: string) => new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(page)?.[1] ?? '';
  beforeAll(async () => {
    answer = await fetch(daemon.url + path);
    page = await answer.text();
  });

  test('is HTML and needs no key', () => {
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
  });

  test('may run its own style and script and call the daemon, nothing else', () => {
    const policy = (answer.headers.get('content-security-policy') ?? '').split('; ');
    const sha256 = (text: string) => createHash('sha256').update(text).digest('base64');
    expect(policy.toSorted()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      'img-src data:',
      `script-src 'sha256-${sha256(inner('script'))}'`,
      `style-src 'sha256-${sha256(inner('style'))}'`,
    ]);
  });

  test('loads no other resource', () => {
    const markup = page.replace(inner('script'), '').replace(inner('style'), '');
    expect(markup).not.toMatch(/\s(src|srcset|style|on\w+)=/);
    expect([...markup.matchAll(/<link [^>]*>/g)].map(([link]) => link)).toEqual([
      '<link rel="icon" href="data:,">',
    ]);
    expect(inner('style')).not.toMatch(/url\(|@import/);
    expect(inner('script')).not.toMatch(/import\(|innerHTML|eval\(|document\.write/);
  });

  test('has a style and a script of less than 60 KB', async () => {
    expect(inner('style').length + inner('script').length).toBeLessThan(60_000);
    // What ends a script inside of it would end the page's.
    expect(await readFile(`src/daemon/http/pages/${script}`, 'utf8')).not.toMatch(/<\/script|<!--/i);
  });

  test('closes every element', () => {
    const markup = page.replace(inner('script'), '').replace(inner('style'), '');
    const open: string[] = [];
    for (const [, slash, tag = ''] of markup.matchAll(/<(\/?)([a-z][a-z0-9]*)[^>]*>/g)) {
      if (['meta', 'link', 'input'].includes(tag)) continue;
      if (slash === '') open.push(tag);
      else expect(open.pop()).toBe(tag);
    }
    expect(open).toEqual([]);
  });
});

describe('the page', () => {
  test('has unique ids, and a target for every link', () => {
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(targets.length).toBeGreaterThan(100);
    expect(targets.filter((id) => !ids.includes(id))).toEqual([]);
  });

  test('documents every schema, and what applies to all endpoints', () => {
    for (const name of Object.keys(description.components.schemas))
      expect(sectionOf(`schema-${name}`)).not.toBe('');
    expect(page).toContain('<strong>Credentials</strong>');
  });
});

/** Endpoints that "Try it" sends, other than GET. */
const modelCalls = [
  'createResponse',
  'createChatCompletion',
  'createMessage',
  'countMessageTokens',
  'countInputTokens',
  'previewResponse',
  'previewChatCompletion',
  'previewMessage',
  'previewEmbedding',
  'createEmbedding',
  'compactResponse',
];

const partsOf = ({ params, query, headers }: Endpoint) =>
  [params, query, headers].flatMap((it) =>
    Object.keys((it as { properties?: object } | undefined)?.properties ?? {}),
  );

test('every endpoint has a link, its input, its output and an example', () => {
  const served = endpoints.filter(
    (it) => it.method.toLowerCase() in (description.paths[documentedPath(it)] ?? {}),
  );
  expect(served.length).toBe(Object.values(description.paths).flatMap((it) => Object.keys(it)).length);
  for (const endpoint of served) {
    const section = sectionOf(endpoint.id);
    const reported = (text: string) => expect(section, endpoint.id).toContain(text);
    reported(`href="#${endpoint.id}"`);
    reported(`${endpoint.method}</span> <code>${documentedPath(endpoint)}</code>`);
    reported(endpoint.summary);
    for (const name of partsOf(endpoint)) reported(`<code class="name">${name}</code>`);
    for (const code of answerableCodes(endpoint)) reported(`<code>${code}</code>`);
    if (!endpoint.socket) reported('<pre><code data-language="shell">curl ');
    reported('<pre><code data-language="javascript">');
    const has = {
      body: section.includes('<h4>Body'),
      key: /authorization: `?Bearer/.test(section),
      trial: section.includes('class="try"'),
    };
    expect(has, endpoint.id).toEqual({
      body: endpoint.body !== undefined,
      key: !endpoint.access.anonymous,
      trial: (endpoint.method === 'GET' && !endpoint.socket) || modelCalls.includes(endpoint.id),
    });
  }
});

test('samples are in four languages, with the SDK where it makes the call', () => {
  const samples = (id: string) =>
    [...sectionOf(id).matchAll(/<figure data-title="(\w+)">.*?<code[^>]*>(.*?)<\/code>/gs)].map((it) =>
      it.slice(1),
    );
  const titles = ['curl', 'JavaScript', 'Python', 'gateway'];
  const response = Object.fromEntries(samples('createResponse'));
  expect(Object.keys(response)).toEqual(titles);
  expect(response.Python).toContain('client.responses.create(model="sim/assistant", input="Hello!")');
  expect(samples('createChatCompletion').map(([title]) => title)).toEqual(titles);
  const issue = Object.fromEntries(samples('issueKey'));
  expect(Object.keys(issue)).toEqual(titles);
  expect(issue.JavaScript).toContain("fetch('http://127.0.0.1:4100/v1/workspaces/WORKSPACE/keys', {");
  expect(issue.Python).toContain('requests.post(');
  expect(issue.gateway).toContain('gateway keys issue');
  expect(samples('connectResponses').map(([title]) => title)).toEqual(['JavaScript']);
  // No command only reads limits; the one that sets them is no example of reading.
  expect(samples('getLimits').map(([title]) => title)).toEqual(titles.slice(0, 3));
});

const form = /<form class="try".*?<\/form>/s;
const body = (id: string) =>
  /<textarea[^>]*>(.*?)<\/textarea>/s.exec(form.exec(sectionOf(id))?.[0] ?? '')?.[1] ?? '';

test.each(modelCalls)('the example of %s gets an answer', async (id) => {
  await dropIdleConnections(daemon);
  const [, path = ''] = /data-path="([^"]*)"/.exec(sectionOf(id)) ?? [];
  const headers = { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json' };
  const answer = await fetch(daemon.url + path, { method: 'POST', headers, body: body(id) });
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringMatching(/\S/)]);
});

test('model calls can be tried with a body that asks for a stream', () => {
  expect(JSON.parse(body('createResponse'))).toEqual({
    model: 'sim/assistant',
    input: 'Hello!',
    stream: true,
  });
  expect(JSON.parse(body('createChatCompletion'))).toMatchObject({
    messages: [{ role: 'user' }],
    stream: true,
  });
  expect(sectionOf('createResponse')).toContain('data-method="POST" data-path="/v1/responses"');
  expect(sectionOf('listModels')).not.toContain('<textarea');
});

test('the page holds few elements until a section is opened', () => {
  const markup = page.replace(inner('script'), '').replace(inner('style'), '');
  let depth = 0;
  let elements = 0;
  for (const [, slash, tag = ''] of markup.matchAll(/<(\/?)([a-z][a-z0-9]*)[^>]*>/g)) {
    if (tag === 'template') depth += slash === '' ? 1 : -1;
    else if (slash === '' && depth === 0) elements += 1;
  }
  expect(elements).toBeLessThan(3400);
});

test('`/` is a page that leads to it, for clients that are no browsers', async () => {
  const home = await fetch(`${daemon.url}/`);
  const text = await home.text();
  expect([home.status, home.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(text).toContain('<a class="button" href="/docs">API reference</a>');
  expect(text).toContain(`<h1>Gateway <small>${version}</small></h1>`);
  expect(page).toContain(`Gateway API <small>${version}</small>`);
  expect(home.headers.get('content-security-policy')).not.toContain('script-src');
  expect(text).not.toContain('<script');
});

test('no other site may frame it', async () => {
  const framed = await fetch(`${daemon.url}/docs`, { headers: { 'sec-fetch-site': 'cross-site' } });
  expect(framed.status).toBe(403);
});
