import { expect, test } from 'vitest';
import { KnownSecrets } from '../../src/shared/masking/known-secrets.ts';
import { maskJson, maskJsonText } from '../../src/shared/masking/mask-json.ts';
import { maskText } from '../../src/shared/masking/mask-text.ts';

/** Secrets that other gateways and tools were reported to log or store, and texts that their redaction was reported to spoil. */

const secret = 'Zq7xcanary0123456789abcdef';

const leaks: readonly (readonly [report: string, what: string, text: string])[] = [
  [
    'BerriAI/litellm#39964',
    'the key of a provider in the address that an HTTP client reports',
    `Client error '400 Bad Request' for url 'https://generativelanguage.googleapis.com/v1beta/models/g:generateContent?key=${secret}'`,
  ],
  ['BerriAI/litellm#39293', 'a key in the query of a request', `"GET /key/info?key=${secret} HTTP/1.1" 200`],
  [
    'BerriAI/litellm#39293',
    'the same with an encoded name',
    `"GET /key/info?api%5Fkey=${secret} HTTP/1.1" 200`,
  ],
  [
    'BerriAI/litellm#35678',
    'headers in the body of a request, at any depth',
    JSON.stringify({ metadata: { extra_headers: { authorization: secret, 'x-api-key': secret } } }),
  ],
  [
    'intrafind/ihub-apps#705',
    'the key of Google in an address',
    `POST https://g.example/v1:stream?alt=sse&key=${secret}`,
  ],
  ['agentjido/req_llm#277', 'the same in a debug log', `[debug] url: "https://g.example/v1?key=${secret}"`],
  [
    'xorbitsai/xagent#40',
    'a credential beside a base URL',
    `/openai/models?api_key=${secret}&base_url=https://x.example`,
  ],
  [
    'Skyvern-AI/skyvern#7504',
    'the signature of an address in a trace',
    `artifact https://s3.example/a.png?X-Amz-Expires=60&X-Amz-Signature=${secret}`,
  ],
  [
    'BerriAI/litellm#36901',
    'a header that is passed on to an MCP server',
    toolWith({ headers: { 'x-github-token': secret } }),
  ],
  [
    'openai/openai-agents-python#1609',
    'a key for an MCP server in a header of its own',
    toolWith({ headers: { 'X-Client-Secret': secret } }),
  ],
  ['DataZooDE/erpl-web#100', 'the authorization in a dump of headers', `authorization: Bearer ${secret}`],
  [
    'TokenRhythm/opensquilla#530',
    'a bare key in a provider’s error',
    `Incorrect API key sk-${secret} provided`,
  ],
  ['Smana/runlore#141', 'a token of GitHub', `remote: github_pat_${secret} is not valid`],
];

function toolWith(more: object): string {
  const tool = { type: 'mcp', server_label: 'n', server_url: 'https://mcp.example/mcp', ...more };
  return JSON.stringify({ tools: [tool] });
}

test.each(leaks)('%s: %s', (_report, _what, text) => {
  expect(maskJsonText(text)).not.toContain(secret);
  expect(JSON.stringify(maskJson(parsed(text)))).not.toContain(secret);
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const spoilt: readonly (readonly [report: string, text: string])[] = [
  [
    'mikehasa/agentacct#31',
    'task-management-for-2026-and-later, disk-usage-of-100000-files, risk-free-trial-of-30-days',
  ],
  ['mikehasa/agentacct#31', 'The Bearer token of a session goes into a header.'],
  ['Extra-Chill/homeboy#10521', 'PASS: basic auth creates a user; Basic header is applied; auth-smoke: 3'],
  ['Extra-Chill/homeboy#10521', 'auth_ref resolves; Standard auth options: state, code and nonce'],
  ['paperclipai/paperclip#12309', '{"authorType":"agent","authorAgentId":"a-17","auth":{"mode":"none"}}'],
  ['paperclipai/paperclip#12309', 'com.example.authentication.TokenProviderFactory.createDefault'],
  [
    'langwatch/langwatch#6816',
    'commit 9f3c2d1e8b7a6f5e4d3c2b1a09f8e7d6c5b4a392 of 550e8400-e29b-41d4-a716-446655440000',
  ],
  [
    'diegosouzapw/OmniRoute#7683',
    `data:image/png;base64,${Buffer.from(Array.from({ length: 900 }, (_, at) => (at * 37) % 256)).toString('base64')}`,
  ],
  ['Consiliency/pmcp#234', 'Is the key to a secret garden a token of trust? Her password was a sign.'],
];

/** Masked where they are, as they could be credentials, but no secrets to be looked for in the rest of a conversation. */
const ordinary: readonly (readonly [what: string, text: string])[] = [
  ['the key of a cache', 'GET /cache?key=user:1001 and user:1001 again'],
  ['a sign', '?sign=aquarius1 for aquarius1'],
  ['a kind of authentication', '/login?auth=oauth2-pkce with oauth2-pkce'],
  ['a token of a page', '/items?token=page-number-12 after page-number-12'],
  ['the project of a server', `${toolAt('https://gitmcp.io/microsoft/TypeScript')} and TypeScript`],
  ['the version of a server', `${toolAt('https://mcp.example/2024-11-05/v1beta1')} of 2024-11-05, v1beta1`],
  ['the number of a tenant', `${toolAt('https://mcp.example/tenants/100000/mcp')}, 100000`],
  ['a mode of a server', `${toolAt('https://mcp.example/mcp?mode=read-only2')}, read-only2`],
];

function toolAt(server_url: string): string {
  return JSON.stringify({ tools: [{ type: 'mcp', server_label: 'n', server_url }] });
}

test.each(ordinary)('%s is not erased elsewhere', (_what, text) => {
  const known = new KnownSecrets();
  const end = text.slice(text.lastIndexOf(' '));
  const [json = '', rest] = text.startsWith('{') ? text.split(/(?<=\}\]\})/) : [text];
  const masked = maskJsonText(json, { known }) + maskText(rest ?? '', { known });
  expect(masked.endsWith(end)).toBe(true);
  expect(known.values).toEqual([]);
});

/** Names with the form of a key or a header. */
const names: readonly (readonly [report: string, text: string])[] = [
  ['none', 'basic configuration-v2, basic html/css/js-2024, Basic understanding1/2'],
  ['none', 'hf_transformers_pipeline_2, r8-asian-food-market-2, sk-learn_contrib_Pipeline_2024'],
  ['none', 'L402 protocol-specification, LSAT specification/draft-02'],
  ['none', 'bearer ERC721TokenContractV2, Bearer authenticationV2/TokenProvider'],
];

test.each([...spoilt, ...names])('%s: ordinary text stays: %s', (_report, text) => {
  const known = new KnownSecrets();
  expect(maskText(text, { known })).toBe(text);
  expect(known.values).toEqual([]);
});
