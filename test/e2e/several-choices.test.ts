import { expect, test } from 'vitest';
import { chaosForThisFile, nanoUsdPerToken } from '../support/chaos-daemon.ts';
import type { Behaviour } from '../support/chaos-upstream.ts';
import { callModel, completeCall } from '../support/model-client.ts';
import { chunk, chunkedHead } from '../support/raw-server.ts';

const on = await chaosForThisFile();

const texts = ['a'.repeat(400), 'b'.repeat(800), 'c'.repeat(1_200)];
const charactersMade = 400 + 800 + 1_200;

function piece(index: number, delta: object): string {
  const choices = [{ index, delta, finish_reason: null }];
  const json = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices };
  return chunk(`data: ${JSON.stringify(json)}\n\n`);
}

/** Three answers, in pieces; the stream stays open. */
const says: Behaviour = ({ socket }) => {
  const pieces = texts.map((content, index) => piece(index, { role: 'assistant', content }));
  socket.write(chunkedHead() + pieces.join(''));
};

test('disconnecting from a stream of several choices pays for the text of all of them', async () => {
  on.chaos.on('three', says);
  const answer = callModel(on.daemon, { wire: 'chat', model: 'chat/three', stream: true, more: { n: 3 } });
  await answer.receives('cccc');
  answer.disconnect();
  const row = await on.waitForUsage('chat/three');
  expect(row).toMatchObject({ status: 'canceled', isReported: 0, output: charactersMade / 4 });
  expect(row.charged).toBe(row.input * nanoUsdPerToken.input + row.output * nanoUsdPerToken.output);
});

test('several choices without usage are charged by the text of all of them', async () => {
  on.chaos.on('whole', ({ socket }) => {
    const choices = texts.map((content, index) => ({
      index,
      message: { role: 'assistant', content },
      finish_reason: 'stop',
    }));
    const body = JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices,
    });
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
    socket.write(`${head}\r\n\r\n${body}`);
  });
  const more = { n: 3 };
  const answer = await completeCall(on.daemon, { wire: 'chat', model: 'chat/whole', stream: false, more });
  expect(answer.status).toBe(200);
  expect(await on.waitForUsage('chat/whole')).toMatchObject({
    status: 'completed',
    output: charactersMade / 4,
  });
});
