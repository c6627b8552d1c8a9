import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drips, words } from '../support/chaos-behaviours.ts';
import { chaosConfig } from '../support/chaos-daemon.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { completeCall } from '../support/model-client.ts';

const usage = { input: 100, output: 50 };
/** The daemon keeps 256 of them for itself, and each connection may need a second one to a provider. */
const openFilesMax = 320;
const callers = 24;

let chaos: ChaosUpstream;
let daemon: ChildDaemon;

beforeAll(async () => {
  chaos = await startChaosUpstream(drips(5, { text: words, usage }));
  daemon = await startChildDaemon({ config: chaosConfig(chaos.baseUrl), openFilesMax });
});

afterAll(async () => {
  await daemon?.remove();
  await chaos.close();
});

/** Opens a connection with half a call; resolves to whether the daemon accepted it. */
function hold({ url, key }: ChildDaemon, sockets: Socket[]): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const headers = `host: ${hostname}:${port}\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: 9`;
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    sockets.push(socket);
    socket.write(`POST /v1/responses HTTP/1.1\r\n${headers}\r\nexpect: 100-continue\r\n\r\n`);
    socket.once('data', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}

describe('a daemon with a low limit of open files', () => {
  test('closes excess connections, answers those it accepted, and keeps working afterwards', async () => {
    const sockets: Socket[] = [];
    const kept = await Promise.all(Array.from({ length: 100 }, () => hold(daemon, sockets)));
    expect(kept.filter(Boolean).length).toBeGreaterThan(16);
    expect(kept.filter((isKept) => !isKept).length).toBeGreaterThan(30);
    for (const socket of sockets) socket.destroy();

    const call = () => completeCall(daemon, { wire: 'chat', model: 'chat/any', stream: true });
    await eventually('the connections are gone', async () => (await call()).status === 200);
    const answers = await Promise.all(Array.from({ length: callers }, call));
    expect(answers.map(({ status }) => status)).toEqual(Array(callers).fill(200));
    expect(daemon.printed().stderr).not.toContain('EMFILE');
  });
});
