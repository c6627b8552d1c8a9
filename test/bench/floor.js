/**
 * The floor: the least that a gateway on the same libraries does. Fastify takes a request, a balance in memory is checked,
 * undici passes the request on, events of streams are parsed and written again, and usage rows are stored in batches.
 * Nothing waits for the rows, or, with `--waits`, what the gateway promises is kept: a stream begins when its hold is on
 * disk, and an answer ends when its usage is, both written by a thread with `synchronous=FULL`.
 *
 * node floor.js --upstream URL --database FILE [--waits]
 */
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import Fastify from 'fastify';
import { Pool } from 'undici';
import { openLedger } from './floor-ledger.js';

const key = 'Bearer floor';
const holdNanoUsd = 5_000;

const { values } = parseArgs({
  options: { upstream: { type: 'string' }, database: { type: 'string' }, waits: { type: 'boolean' } },
});
const { upstream = '', database = '', waits = false } = values;

const balances = new Map([[key, { spent: 0, held: 0, cap: Number.MAX_SAFE_INTEGER }]]);
const pool = new Pool(upstream, { connections: 1024, pipelining: 1 });
const providerHeaders = { 'content-type': 'application/json', authorization: 'Bearer provider' };
let calls = Date.now() * 1000;

/** Rows in batches of 20 ms, which nothing waits for. */
function unawaitedLedger() {
  const write = openLedger(database, 'NORMAL');
  let rows = [];
  return {
    hold: undefined,
    settle(row) {
      if (rows.push(row) > 1) return undefined;
      setTimeout(() => {
        write(rows);
        rows = [];
      }, 20);
      return undefined;
    },
  };
}

/** Each row resolves when it is on disk. One batch is under way at a time; the next gathers meanwhile. */
function awaitedLedger() {
  const thread = new Worker(new URL('./floor-ledger.js', import.meta.url), {
    name: 'floor-writer',
    workerData: { database },
  });
  thread.unref();
  let rows = [];
  let waiting = [];
  let written = [];
  let isBusy = false;
  let isDue = false;
  const post = () => {
    isDue = false;
    if (rows.length === 0) return;
    isBusy = true;
    written = waiting;
    thread.postMessage(rows);
    rows = [];
    waiting = [];
  };
  const due = () => {
    if (isBusy || isDue) return;
    isDue = true;
    setImmediate(post);
  };
  thread.on('message', () => {
    isBusy = false;
    for (const resolve of written) resolve();
    due();
  });
  const add = (row) =>
    new Promise((resolve) => {
      rows.push(row);
      waiting.push(resolve);
      due();
    });
  return { hold: add, settle: add };
}

const ledger = waits ? awaitedLedger() : unawaitedLedger();

function fail(response, status, message) {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = JSON.stringify({ error: { message } });
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

function pass(path, authorization, body, response) {
  const balance = balances.get(authorization);
  const request = JSON.parse(body);
  if (!balance || balance.spent + balance.held + holdNanoUsd > balance.cap) {
    fail(response, 402, 'no balance');
    return;
  }
  balance.held += holdNanoUsd;
  const id = `req_${(calls++).toString(36)}`;
  const startedAt = Date.now();
  let status = 200;
  let type = '';
  let isStream = false;
  let held;
  let usage;
  let text = '';
  let isOver = false;
  let control;
  const pieces = [];
  const row = (kind, tokensIn, tokensOut) => [
    id,
    kind,
    request.model,
    'mock',
    tokensIn,
    tokensOut,
    tokensIn * 3 + tokensOut * 15,
    Date.now() - startedAt,
    startedAt,
  ];
  const settle = () => {
    const tokensIn = usage?.prompt_tokens ?? usage?.input_tokens ?? 0;
    const tokensOut = usage?.completion_tokens ?? usage?.output_tokens ?? 0;
    balance.held -= holdNanoUsd;
    balance.spent += tokensIn * 3 + tokensOut * 15;
    return ledger.settle(row('call', tokensIn, tokensOut));
  };
  const after = (promise, then) => {
    if (promise) promise.then(then);
    else then();
  };
  const events = () => {
    let out = '';
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = text.slice(0, end);
      text = text.slice(end + 2);
      const at = event.indexOf('data: ');
      const data = event.slice(at + 6);
      if (data === '[DONE]') {
        out += 'data: [DONE]\n\n';
        continue;
      }
      const parsed = JSON.parse(data);
      usage = parsed.usage ?? parsed.response?.usage ?? usage;
      out += `${event.slice(0, at)}data: ${JSON.stringify(parsed)}\n\n`;
    }
    return out;
  };
  let last = '';
  response.on('close', () => {
    if (isOver) return;
    isOver = true;
    control?.abort(new Error('the client left'));
    settle();
  });
  if (request.stream) held = ledger.hold?.(row('hold', 0, 0));
  pool.dispatch(
    { path, method: 'POST', headers: providerHeaders, body },
    {
      onRequestStart(controller) {
        control = controller;
      },
      onResponseStart(_controller, statusCode, headers) {
        status = statusCode;
        type = headers['content-type'] ?? '';
        isStream = type.startsWith('text/event-stream');
        if (isStream)
          after(held, () =>
            response.writeHead(status, { 'content-type': type, 'cache-control': 'no-cache' }),
          );
      },
      onResponseData(_controller, bytes) {
        if (!isStream) {
          pieces.push(bytes);
          return;
        }
        text += bytes.toString('utf8');
        // The last piece of a stream waits for the settlement.
        const out = last + events();
        last = '';
        const isEnd =
          out.includes('data: [DONE]') || out.includes('message_stop') || out.includes('response.completed');
        if (isEnd) last = out;
        else if (out !== '') after(held, () => response.write(out));
      },
      onResponseEnd() {
        isOver = true;
        if (isStream) {
          after(settle(), () => response.end(last));
          return;
        }
        const answer = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
        usage = JSON.parse(answer.toString('utf8')).usage;
        after(settle(), () => {
          response.writeHead(status, { 'content-type': type, 'content-length': answer.length });
          response.end(answer);
        });
      },
      onResponseError(_controller, error) {
        if (isOver) return;
        isOver = true;
        settle();
        fail(response, 502, error.message);
      },
    },
  );
}

const app = Fastify({ logger: false, bodyLimit: 32 * 1024 * 1024 });
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/messages'])
  app.post(path, (request, reply) => {
    reply.hijack();
    pass(path, request.headers.authorization, request.body, reply.raw);
  });
await app.listen({ port: 0, host: '127.0.0.1' });
process.send?.({ port: app.server.address().port, headers: { authorization: key } });
process.on('disconnect', () => process.exit());
