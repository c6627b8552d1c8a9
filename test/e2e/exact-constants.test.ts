import { expect, test } from 'vitest';
import { startRawServer, wholeAnswer } from '../support/raw-server.ts';
import { startDaemon } from '../support/start-daemon.ts';

const wires = ['responses', 'chat', 'messages'] as const;

test('values in schemas of answers and tools reach every provider with all digits', async () => {
  const requests: string[] = [];
  const server = await startRawServer((socket, request) => {
    requests.push(request);
    socket.end(wholeAnswer('{"error":{"message":"No."}}', { status: '400 Bad Request' }));
  });
  const upstreams = wires.map(
    (wire) => `  - {name: w-${wire}, base_url: "${server.url}/v1", wire: ${wire}, models: ["m"]}`,
  );
  const daemon = await startDaemon({ config: `upstreams:\n${upstreams.join('\n')}\n` });
  try {
    const properties = '{"id":{"const":9007199254740993},"of":{"enum":[12345678901234567890,1]}}';
    const schema = `{"type":"object","properties":${properties},"required":["id","of"],"additionalProperties":false}`;
    for (const wire of wires) {
      const body = `{"model":"w-${wire}/m","input":"Hello.","text":{"format":{"type":"json_schema","name":"a","schema":${schema}}},"tools":[{"type":"function","name":"f","parameters":${schema}}]}`;
      await daemon.fetch('/v1/responses', {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      });
      const sent = requests.findLast((request) => request.startsWith('POST')) ?? '';
      expect([wire, sent.split('9007199254740993').length]).toEqual([wire, 3]);
      expect([wire, sent.split('12345678901234567890').length]).toEqual([wire, 3]);
    }
    const whole = `{"model":"sim/assistant","input":"Hello.","text":{"format":{"type":"json_schema","name":"a","schema":${schema}}}}`;
    const answer = await daemon.fetch('/v1/responses', {
      method: 'POST',
      body: whole,
      headers: { 'content-type': 'application/json' },
    });
    const { output } = (await answer.json()) as { output: { content: { text: string }[] }[] };
    expect(output.at(-1)?.content[0]?.text).toContain('9007199254740993');
  } finally {
    await daemon.stop();
  }
});
