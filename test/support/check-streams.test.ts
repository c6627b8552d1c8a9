import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { checkStreams } from './check-streams.ts';

test('a streamed event that breaks its schema is detected, and JSON answers are not read', async () => {
  const event = { type: 'key.issued', sequence: 1, created_at: '2026-11-22T08:00:00.000Z', data: {} };
  const answers: string[] = [];
  const server = createServer((_request, response) => {
    for (const part of answers) response.write(part);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const checkOf = async (...parts: string[]) => {
    answers.splice(0, answers.length, ...parts);
    const end = checkStreams(url);
    await (await fetch(`${url}/v1/events?after=0`)).text();
    return end;
  };
  const [valid, broken] = [event, { ...event, sequence: 'one' }].map((each) => JSON.stringify(each));
  expect(await checkOf(': hello\n\n', `data: ${valid}\n`, '\n')).not.toThrow();
  expect(await checkOf('{"error":', '{}}')).not.toThrow();
  expect(await checkOf(`data: ${valid}\n\nda`, `ta: ${broken}\n\n`)).toThrow(/streamEvents: \/sequence/);
  server.close();
});
