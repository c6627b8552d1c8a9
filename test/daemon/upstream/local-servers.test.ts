import { describe, expect, onTestFinished, test } from 'vitest';
import { findLocalServers } from '../../../src/daemon/upstream/local-servers.ts';
import { createNetwork } from '../../../src/daemon/upstream/network.ts';
import { versionHeader } from '../../../src/shared/version.ts';
import { startRawServer, wholeAnswer } from '../../support/raw-server.ts';

function network() {
  const made = createNetwork();
  onTestFinished(() => made.close());
  return made;
}

const list = (...models: object[]) => wholeAnswer(JSON.stringify({ object: 'list', data: models }));
const answering = async (text: string) => (await startRawServer((socket) => socket.write(text))).url;

describe('local servers', () => {
  test('are found if they answer with a list of models, and identified by its owner', async () => {
    const places = [
      {
        name: 'ollama' as const,
        origin: await answering(list({ id: 'llama3', owned_by: 'library' }, { id: 'qwen3' })),
      },
      { name: 'llamacpp' as const, origin: await answering(list({ id: 'm', owned_by: 'vllm' })) },
      { name: 'vllm' as const, origin: 'http://127.0.0.1:1' },
    ];
    const found = await findLocalServers(network().send, { timeoutMs: 60_000, places });
    expect(found).toEqual([
      {
        name: 'ollama',
        baseUrl: `${places[0]?.origin}/v1`,
        models: [{ name: 'llama3' }, { name: 'qwen3' }],
      },
      { name: 'vllm', baseUrl: `${places[1]?.origin}/v1`, models: [{ name: 'm' }] },
    ]);
  });

  test('that do not answer are not waited for', async () => {
    const { url } = await startRawServer(() => undefined);
    const places = [{ name: 'lmstudio' as const, origin: url }];
    expect(await findLocalServers(network().send, { timeoutMs: 100, places })).toEqual([]);
  });

  test.each([
    ['a web page', wholeAnswer('<html>', { headers: ['content-type: text/html'] })],
    ['another API', wholeAnswer('{"ok":true}')],
    ['a refusal', wholeAnswer('{}', { status: '401 Unauthorized' })],
    ['a gateway', wholeAnswer('{"data":[]}', { headers: [`${versionHeader}: 0.1.0`] })],
  ])('%s is ignored', async (_case, text) => {
    const places = [{ name: 'vllm' as const, origin: await answering(text) }];
    expect(await findLocalServers(network().send, { timeoutMs: 60_000, places })).toEqual([]);
  });
});
