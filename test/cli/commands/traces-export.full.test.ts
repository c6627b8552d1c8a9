import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exportRows } from '../../../src/cli/commands/traces/export-rows.ts';
import { exportFormats } from '../../../src/shared/contract/traces-export.ts';
import { exitCodes } from '../../../src/shared/errors.ts';
import { runCli } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';

let daemon: RunningDaemon;
const callsMade = 12;

beforeAll(async () => {
  daemon = await startDaemon();
  for (let at = 0; at < callsMade; at += 1) {
    const messages = [{ role: 'user', content: `line\n"${at}", ü\r\nend` }];
    const reply = await daemon.fetch('/v1/chat/completions', { json: { model: 'sim/echo', messages } });
    await reply.text();
  }
});

afterAll(() => daemon.stop());

const contentOf = (format: string) => (format === 'csv' ? 'text' : 'wire');
const pathOf = (format: string) => `/v1/traces/export?format=${format}&content=${contentOf(format)}`;
const headers = () => ({ authorization: `Bearer ${daemon.login}`, host: new URL(daemon.url).host });
const exported = async (format: string, after?: string) => {
  const from = after === undefined ? '' : `&after=${after}`;
  return (await fetch(daemon.url + pathOf(format) + from, { headers: headers() })).text();
};

test.each(exportFormats)(
  '%s that is cut anywhere, and goes on, is the same as a whole one',
  async (format) => {
    const whole = await exported(format);
    const cut = fc.double({ min: 0, max: 1, noNaN: true });
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { minLength: 1, maxLength: 3 }), cut, async (cuts, piece) => {
        const rows = exportRows(format);
        let written = '';
        const take = (text: string) => {
          const middle = Math.floor(piece * text.length);
          written += rows.take(text.slice(0, middle)) + rows.take(text.slice(middle));
        };
        for (const part of cuts) {
          const text = await exported(format, rows.last);
          take(text.slice(0, Math.floor(part * (text.length - 1))));
          rows.restart();
        }
        take(await exported(format, rows.last));
        expect(written + rows.end()).toBe(whole);
        expect(rows.count).toBe(callsMade);
      }),
      { numRuns: 15 },
    );
  },
);

describe('the command', () => {
  const run = (line: string[], url = daemon.url) =>
    runCli(['traces', 'export', ...line, '--host', url], { env: { GATEWAY_KEY: daemon.login } });

  test.each(exportFormats)('writes %s', async (format) => {
    const line = ['--format', format, '--content', contentOf(format)];
    const { code, stdout, stderr } = await run(line);
    expect([code, stderr]).toEqual([0, `${callsMade} calls.\n`]);
    expect(stdout).toBe(await exported(format));
  });

  test('takes the filters of a query', async () => {
    expect((await run(['status:failed'])).stdout).toBe('');
    expect((await run(['model:sim/echo', 'since:1h', '--quiet'])).stdout.split('\n')).toHaveLength(
      callsMade + 1,
    );
    const wrong = await run(['nosuch:filter']);
    expect(wrong.code).toBe(exitCodes.usage);
  });

  /** Passes requests on, and cuts each answer but the fourth in its middle. */
  async function startCutting(): Promise<{ server: Server; url: string; paths: string[] }> {
    const paths: string[] = [];
    const server = createServer(async (request, response) => {
      paths.push(request.url ?? '');
      const answer = await fetch(daemon.url + request.url, { headers: headers() });
      const text = Buffer.from(await answer.text());
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      if (paths.length >= 4) return void response.end(text);
      response.write(text.subarray(0, text.length / 2), () => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths };
  }

  test('gives up on a host whose answer breaks off at the same request again and again', async () => {
    const whole = await exported('jsonl');
    const row = whole.slice(0, whole.indexOf('\n') + 1);
    let answers = 0;
    const server = createServer((_, response) => {
      answers += 1;
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.write(row, () => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const { code, stderr } = await run([], url);
      expect(code).toBe(exitCodes.tryLater);
      expect(stderr).toContain(`To continue: --after ${JSON.parse(row).request_id}`);
      expect(stderr).toContain('the connection was lost');
      expect(answers).toBeLessThan(10);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test.each(exportFormats)('goes on with %s when the connection is lost', async (format) => {
    const { server, url, paths } = await startCutting();
    try {
      const line = ['--format', format, '--content', contentOf(format)];
      const { code, stdout } = await run(line, url);
      expect(code).toBe(0);
      expect(stdout).toBe(await exported(format));
      expect(paths).toHaveLength(4);
      expect(paths[3]).toContain('after=req_');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
