import { describe, expect, test } from 'vitest';
import { KnownSecrets } from '../../../src/shared/masking/known-secrets.ts';
import { secretsOfRequest } from '../../../src/shared/masking/mask-headers.ts';
import { maskJson, maskJsonText, shownTool } from '../../../src/shared/masking/mask-json.ts';
import { maskServerUrl, maskText, maskUrl } from '../../../src/shared/masking/mask-text.ts';
import { linearGrowth, stepGrowth } from '../../support/count-steps.ts';
import { works } from './masking.works.ts';

const growthOf = stepGrowth('masking');
const secret = 'Zq7-canary.value+1';

describe('a text', () => {
  test.each([
    // By its place in an address.
    ['https://ann:p%40ss@host.example/a?b=c', 'https://[removed]@host.example/a?b=c'],
    ['see postgres://app:hunter2@db/x, then', 'see postgres://[removed]@db/x, then'],
    [
      'https://a.example/i.png?X-Amz-Signature=0f9e8d7c&w=10',
      'https://a.example/i.png?X-Amz-Signature=[removed]&w=10',
    ],
    ['https://x.blob.example/f?sv=2024&sig=aB%2Bc%3D', 'https://x.blob.example/f?sv=2024&sig=[removed]'],
    ['GET /v1/models?api_key=abcdef123 failed', 'GET /v1/models?api_key=[removed] failed'],
    ['/callback#access_token=abcdef123', '/callback#access_token=[removed]'],
    ['a?x=1&amp;token=abcdef123', 'a?x=1&amp;token=[removed]'],
    [
      'nostr+walletconnect://ab12?relay=wss://r.example&secret=00ff',
      'nostr+walletconnect://ab12?relay=wss://r.example&secret=[removed]',
    ],
    // By a member of JSON, also with the escapes of PHP, Go and .NET.
    ['{"authorization":"s3","n":1}', '{"authorization":"[removed]","n":1}'],
    ['{"api_key" : "a\\"b"}', '{"api_key" : "[removed]"}'],
    ['{"u":"https:\\/\\/a:b1@h\\/p"}', '{"u":"https://[removed]@h/p"}'],
    ['{"u":"https://h/?a=1\\u0026sig=b1"}', '{"u":"https://h/?a=1&sig=[removed]"}'],
    // By its form.
    ['key sk-proj-aB3dE5fG7hJ9kL1m.', 'key [removed].'],
    ['gwk_0123456789abcdefghij', '[removed]'],
    ['curl -H "authorization: Bearer abcdefghijklmn0p"', 'curl -H "authorization: [removed]"'],
    ['Basic YW5uOnNlY3JldA==', '[removed]'],
    ['authorization: Basic w6QtbmFtZTpwYXNz', 'authorization: [removed]'],
    ['"key:\\nsk-proj-aB3dE5fG7hJ9kL1m"', '"key:\\n[removed]"'],
    [`L402 AgEEbHNhdAJC0123:${'0f'.repeat(32)}`, '[removed]'],
  ])('%s', (text, masked) => {
    expect(maskText(text)).toBe(masked);
    expect(maskText(masked)).toBe(masked);
  });

  test.each([
    'The token of a session is a secret, and its password is a signature.',
    'Basic understanding of authentication-schemes; Bearer authentication is one.',
    'def key(token): return token == "password"',
    'git clone ssh://git@github.com/a/b?depth=1&max_tokens=10',
    'https://example.com/search?q=api_key&page=2#section-4',
    'mail ann@example.com: https://example.com/@ann',
    '{"role":"user","content":"{\\"password\\": \\"as an example\\"}"}',
    '{"properties":{"password":{"type":"string"}},"required":["password"]}',
    '{"token":" Hello","logprob":-0.1,"top_logprobs":[{"token":"Hi"}]}',
    '{"type":"thinking","signature":"Eq0BCkgIARABGAIiQL","key":"C major"}',
    'sk-learn-contrib-package and sk-estimator-collection',
    'C:\\\\users\\\\u0026\\\\file, \\u0041 and \\/',
  ])('without a secret is the same: %s', (text) => {
    expect(maskText(text)).toBe(text);
  });

  test.each([
    ['as it is', secret],
    ['in JSON', JSON.stringify({ secret })],
    ['in an address', `a?b=${encodeURIComponent(secret)}`],
    ['with escapes', `"${secret.replace('+', '\\u002B')}"`],
  ])('with a secret that is known, %s', (_how, text) => {
    expect(maskText(text, { known: new KnownSecrets([secret]) })).not.toMatch(/canary/);
  });

  test('repeats no secret that its addresses have', () => {
    const known = new KnownSecrets();
    maskText('https://ann:hunter2x@h/?sig=abc123def', { known });
    expect(maskText('wrong: abc123def, hunter2x, h', { known })).toBe('wrong: [removed], [removed], h');
  });

  test('keeps the names that servers without authentication are given as keys', () => {
    const known = new KnownSecrets();
    for (const key of ['ollama', 'lm-studio', 'not-needed', 'EMPTY', 'no key']) known.addTelling(key);
    expect(known.values).toEqual([]);
    for (const key of ['hunter22', 'correct-horse-battery-staple', 'Zq7xAb']) known.addTelling(key);
    expect(known.values).toHaveLength(3);
  });

  test('replaces what is known only in the strings of JSON, and leaves JSON', () => {
    const known = new KnownSecrets(['100000', 'odd"x,1e21', '","role":"', 'name12', 'tail12\\']);
    const value = {
      max_output_tokens: 100000,
      input: ['a","role":"b', 'line\name12', 'tail12"', 'odd"x,1e21', 'tail12\\'],
      'odd"x,1e21': 1,
    };
    expect(JSON.parse(maskText(JSON.stringify(value), { known }))).toEqual({
      max_output_tokens: 100000,
      input: ['a[removed]b', 'line\name12', 'tail12"', '[removed]', '[removed]'],
      '[removed]': 1,
    });
  });

  test('replaces it also in strings with the letters that separate them meanwhile', () => {
    const known = new KnownSecrets([secret]);
    const text = JSON.stringify(['\0\n\0', secret, '\0\n\0\n\0', '']);
    expect(JSON.parse(maskText(text, { known }))).toEqual(['\0\n\0', '[removed]', '\0\n\0\n\0', '']);
  });

  test('is searched for a limited number of secrets, however many it has', () => {
    const known = new KnownSecrets(['configured-first']);
    const pairs = Array.from({ length: 5000 }, (_, at) => `?sig=x7Kq${at}Lm93Tz`);
    const text = maskText(pairs.join(' '), { known });
    expect(text).toBe(pairs.map(() => '?sig=[removed]').join(' '));
    expect(known.values.length).toBeLessThan(300);
    expect(known.values).toContain('configured-first');
  });

  test('keeps the ordinary words that are someone’s password', () => {
    const known = new KnownSecrets();
    maskText('postgres://user:password@localhost/db?token=function', { known });
    expect(maskText('a function that checks the password', { known })).toContain(
      'function that checks the password',
    );
  });
});

describe('an address', () => {
  test('has no credentials, and other parameters are kept', () => {
    const url = 'https://ann:p%40ssw0rd@host.example/v1/chat?api%5Fkey=abcdefgh&alt=sse';
    expect(maskUrl(url)).toBe('https://[removed]@host.example/v1/chat?api%5Fkey=[removed]&alt=sse');
    const known = secretsOfRequest({ url, headers: { authorization: 'Bearer something-secret' } });
    for (const one of ['p%40ssw0rd', 'p@ssw0rd', 'abcdefgh', 'something-secret'])
      expect(maskText(`echoed: ${one}.`, { known })).toBe('echoed: [removed].');
  });

  test.each(['ollama', 'lm-studio', 'sk-no-key-required'])('%s is no secret', (key) => {
    const known = secretsOfRequest({
      url: 'http://127.0.0.1:1234/v1',
      headers: { authorization: `Bearer ${key}` },
    });
    expect(maskText(`Install ${key} first.`, { known })).toBe(`Install ${key} first.`);
  });

  test('without credentials is unchanged', () => {
    const url = 'http://127.0.0.1:4000/v1/models/gpt-5:generate?alt=sse';
    expect(maskUrl(url)).toBe(url);
    expect(secretsOfRequest({ url, headers: { accept: 'application/json' } }).values).toEqual([]);
  });

  test.each([
    ['https://mcp.deepwiki.com/mcp', 'https://mcp.deepwiki.com/mcp'],
    ['https://host/api/mcp/s/NzY5MDk0~x9/mcp', 'https://host/api/mcp/s/[removed]/mcp'],
    ['https://host/mcp?profile=team&api_key=12345678a', 'https://host/mcp?profile=team&api_key=[removed]'],
    ['https://host/sse?k=9f8e7d6c5b4a', 'https://host/sse?k=[removed]'],
    ['https://ann:pw@host:8080/v1', 'https://[removed]@host:8080/v1'],
    ['not an address', 'not an address'],
  ])('of an MCP server: %s', (url, masked) => {
    expect(maskServerUrl(url)).toBe(masked);
  });
});

describe('an MCP server', () => {
  const tool = {
    type: 'mcp',
    server_label: 'notes',
    server_url: 'https://host/s/9f8e7d6c5b4a/mcp',
    authorization: 'notes-oauth-token-1',
    headers: { 'X-Team-Pass': 'hunter22-team', 'X-Mode': 'read-only' },
  };
  const shown = {
    ...tool,
    server_url: 'https://host/s/[removed]/mcp',
    headers: { 'X-Team-Pass': '[removed]', 'X-Mode': '[removed]' },
  };

  test('of a request is masked, and so is what repeats its secrets', () => {
    const known = new KnownSecrets();
    const text = maskJsonText(JSON.stringify({ tools: [tool], n: 1.0, input: 'read-only, please' }), {
      known,
    });
    expect(JSON.parse(text)).toEqual({
      tools: [{ ...shown, authorization: '[removed]' }],
      n: 1,
      input: 'read-only, please',
    });
    expect(maskText('401 for notes-oauth-token-1 with hunter22-team at /s/9f8e7d6c5b4a', { known })).toBe(
      '401 for [removed] with [removed] at /s/[removed]',
    );
  });

  test('leaves the numbers of a request with its secrets', () => {
    const text = JSON.stringify({
      tools: [{ ...tool, server_url: 'https://h/tenants/100000/mcp' }],
      max_output_tokens: 100000,
    });
    expect(JSON.parse(maskJsonText(text))).toMatchObject({ max_output_tokens: 100000 });
  });

  test('keeps the numbers of its request as they were written', () => {
    const text = `{"tools":[${JSON.stringify(tool)}],"temperature":1.0,"seed":12345678901234567890}`;
    expect(maskJsonText(text)).toMatch(/"temperature":1\.0,"seed":12345678901234567890}$/);
  });

  test('of Anthropic’s format is masked, too', () => {
    const server = { type: 'url', name: 'n', url: tool.server_url, authorization_token: 'abcdef' };
    expect(maskJson({ mcp_servers: [server] })).toEqual({
      mcp_servers: [{ ...server, url: shown.server_url, authorization_token: '[removed]' }],
    });
  });

  test('is repeated in an answer without its credential, as in OpenAI’s API', () => {
    const { authorization: _secret, ...rest } = shown;
    expect(shownTool(tool)).toEqual(rest);
  });

  test('without secrets is unchanged', () => {
    const plain = '{"tools": [{"type": "mcp", "server_url": "https://mcp.deepwiki.com/mcp"}], "seed": 1.0}';
    expect(maskJsonText(plain)).toBe(plain);
  });
});

test.each(Object.keys(works))('takes linear time for %s', async (name) => {
  expect((await growthOf(name)).growth).toBeLessThan(linearGrowth);
});
