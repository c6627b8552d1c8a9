import { randomBytes } from 'node:crypto';
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
  expect(JSON.parse(sealed)[0].image_url).toMatch(/^https:\/\/gwx1\.[\w-]+@h\/a\.png\?sig=gwx1\.[\w-]+$/);
  expect(texts.open(sealed, 'ws_1')).toBe(telling);
  expect(texts.open(sealed, 'ws_2')).toBe(sealed);
  expect(newTexts().open(sealed, 'ws_1')).toBe(sealed);
  expect(JSON.parse(texts.mask(sealed))).toEqual([
    { image_url: 'https://[removed]@h/a.png?sig=[removed]', text: '[removed] "quoted"' },
  ]);
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
