import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDataSealer, createTextSealer } from '../../../../src/daemon/features/vault/index.ts';
import { KnownSecrets } from '../../../../src/shared/masking/known-secrets.ts';

const newTexts = () => createTextSealer(createDataSealer(randomBytes(32), randomBytes));
const texts = newTexts();
const plain = JSON.stringify([{ role: 'user', content: 'The token is a secret.', n: 1.5 }]);
const telling = JSON.stringify([
  { image_url: 'https://ann:hunter2@h/a.png?sig=a%2Bb1', text: 'Bearer x7Kq93LmTz0RbWc4 "quoted"' },
]);

test('a text without secrets is stored as it is', () => {
  expect(texts.seal(plain, 'ws_1')).toBe(plain);
  expect(texts.open(plain, 'ws_1')).toBe(plain);
});

test('secrets are sealed in their places, opened for the same workspace only, and not shown', () => {
  const sealed = texts.seal(telling, 'ws_1');
  expect(sealed).not.toMatch(/hunter2|a%2Bb1|x7Kq93LmTz0RbWc4/);
  expect(JSON.parse(sealed)[0].image_url).toMatch(
    /^https:\/\/gwx2\.[\da-f]+\.@h\/a\.png\?sig=gwx2\.[\da-f]+\.$/,
  );
  expect(texts.open(sealed, 'ws_1')).toBe(telling);
  expect(texts.open(sealed, 'ws_2')).toBe(sealed);
  expect(newTexts().open(sealed, 'ws_1')).toBe(sealed);
  expect(JSON.parse(texts.mask(sealed))).toEqual([
    { image_url: 'https://[removed]@h/a.png?sig=[removed]', text: '[removed] "quoted"' },
  ]);
});

/** Secrets of all kinds, and what may be around them. */
const fragments = [
  'https://ann:secret99@h/x',
  'https://ann:secret99@h/?sig=a%2Bb1&key=x7Kq93LmTz0RbWc4',
  '?password=secret99',
  '"password":"https://user:secret99@host/x"',
  '{"api_key":"a\\"b12345"}',
  '"authorization": "Bearer secret99"',
  'Bearer sk-proj-aB3dE5fG7hJ9kL1m',
  '\nsk-proj-aB3dE5fG7hJ9kL1m',
  'Basic YW5uOnNlY3JldA==',
  'secret99',
  'x7Kq93LmTz0RbWc4',
  'odd"secret\\',
  '-',
  '_',
  '.',
  ' ',
  '"',
  '\\',
  '\n',
  '/',
  'n',
  '100000',
  'gwx1.',
  'gwx2.',
  'é',
];
const anyText = fc.array(fc.constantFrom(...fragments), { maxLength: 6 }).map((parts) => parts.join(''));
const anyJson = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    anyText,
    fc.constantFrom(100000, 1.5, true, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.oneof(fc.constantFrom('password', 'authorization', 'api_key', 'text'), anyText),
      tie('value'),
      { maxKeys: 3 },
    ),
  ),
})).value;

test('what is sealed is opened as it was, with secrets within others and beside anything', () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      const known = new KnownSecrets(['odd"secret\\', '100000']);
      const text = JSON.stringify({ tools: [tenant], value });
      const sealed = texts.seal(text, 'ws_1', known);
      const shown = texts.mask(sealed);
      expect(JSON.parse(shown)).toBeDefined();
      expect(shown).not.toMatch(/gwx2\.[\da-f]{40}/);
      expect(JSON.parse(texts.open(sealed, 'ws_1')).value).toEqual(JSON.parse(JSON.stringify(value)));
    }),
    { numRuns: 500 },
  );
});

const tenant = {
  type: 'mcp',
  server_label: 'n',
  server_url: 'https://h/tenants/100000/s/x7Kq93LmTz0RbWc4/mcp',
};

test('secrets that were sealed without an end are opened, too', () => {
  const old = texts.sealWhole('x7Kq93', 'ws_1');
  expect(texts.open(`{"text":"?sig=${old}"}`, 'ws_1')).toBe('{"text":"?sig=x7Kq93"}');
});

test('an answer that repeats a secret of its request has it no more', () => {
  const known = new KnownSecrets(['canary-of-a-server']);
  const answer = JSON.stringify([{ text: 'I sent canary-of-a-server to https://h/?sig=abc123' }]);
  const sealed = texts.sealAnswer(answer, 'ws_1', known);
  expect(JSON.parse(texts.open(sealed, 'ws_1'))).toEqual([
    { text: 'I sent [removed] to https://h/?sig=abc123' },
  ]);
});

test('whole texts are sealed, too, and those from before are read', () => {
  const sealed = texts.sealWhole('event: x\n\n', 'events|resp_1');
  expect(sealed).not.toContain('event');
  expect(texts.openWhole(sealed, 'events|resp_1')).toBe('event: x\n\n');
  expect(texts.openWhole('event: old\n\n', 'events|resp_1')).toBe('event: old\n\n');
  expect(() => texts.openWhole(sealed, 'events|resp_2')).toThrow('cannot be decrypted');
});
