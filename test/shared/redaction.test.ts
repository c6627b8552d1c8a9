import { expect, test } from 'vitest';
import { secretsIn, withoutSecretParameters, withoutSecrets } from '../../src/shared/redaction.ts';

test('credentials are removed anywhere in a URL', () => {
  const url = 'https://ann:p%40ssw0rd@host.example/v1/chat?key=abcdefgh&alt=sse';
  expect(withoutSecretParameters(url)).toBe('https://host.example/v1/chat?key=removed&alt=sse');
  const secrets = secretsIn(url, { authorization: 'Bearer something-secret' });
  for (const secret of ['p%40ssw0rd', 'p@ssw0rd', 'abcdefgh', 'something-secret']) {
    expect(withoutSecrets(`echoed: ${secret}.`, secrets)).toBe('echoed: [removed].');
  }
});

test('a URL without credentials is unchanged', () => {
  const url = 'http://127.0.0.1:4000/v1/models/gpt-5:generate?alt=sse';
  expect(withoutSecretParameters(url)).toBe(url);
  expect(secretsIn(url, { accept: 'application/json' })).toEqual([]);
});
