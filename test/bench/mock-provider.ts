/**
 * A provider with minimal cost: it answers chat completions and Responses with prebuilt bytes.
 * Runs as a child process, sends its port to its parent and ends with it.
 */
import { createServer, type Socket } from 'node:net';
import { HttpReader } from './http-reader.ts';
import { jsonBytes, type StreamBytes, streamBytes } from './mock-answers.ts';
import { behaviourOf, clockUs, stampDigits, type Wire } from './wires.ts';

const jsonAnswers = new Map<string, Buffer>();
const streams = new Map<string, StreamBytes>();
const wholeStreams = new Map<string, Buffer>();
const models =
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 27\r\n\r\n{"object":"list","data":[]}';

const server = createServer({ noDelay: true }, (socket) => {
  let path = '';
  let body = '';
  const reader = new HttpReader({
    onHead(head) {
      path = head.slice(0, head.indexOf(' HTTP/'));
      body = '';
    },
    onBody(piece) {
      body += piece.toString('latin1');
    },
    onEnd: () => answer(socket, path, body),
  });
  socket.on('data', (bytes) => reader.push(bytes));
  socket.on('error', () => socket.destroy());
});

function answer(socket: Socket, path: string, body: string): void {
  if (path.startsWith('GET')) {
    socket.write(models);
    return;
  }
  const wire = wireOf(path);
  const model = /"model": ?"([^"]*)"/.exec(body)?.[1] ?? '';
  const behaviour = behaviourOf(model);
  const includesUsage = /"include_usage": ?true/.test(body);
  const name = `${wire} ${includesUsage} ${model}`;
  if (!/"stream": ?true/.test(body)) {
    socket.write(made(jsonAnswers, name, () => jsonBytes(wire, model, behaviour)));
    return;
  }
  const stream = made(streams, name, () => streamBytes(wire, model, behaviour, { includesUsage }));
  if (behaviour.delayMs === 0)
    socket.write(made(wholeStreams, name, () => wholeStream(stream, behaviour.tokens)));
  else pace(socket, stream, behaviour);
}

function wireOf(path: string): Wire {
  if (path.endsWith('/responses')) return 'responses';
  return path.endsWith('/messages') ? 'messages' : 'chat';
}

/** The first token leaves with the headers; the others follow one by one, each stamped as it leaves. */
function pace(socket: Socket, stream: StreamBytes, { tokens, delayMs }: { tokens: number; delayMs: number }) {
  let sent = 1;
  socket.write(Buffer.concat([stream.start, stamped(stream)]));
  const timer = setInterval(() => {
    if (socket.destroyed) clearInterval(timer);
    else if (sent < tokens) {
      sent += 1;
      socket.write(stamped(stream));
    } else {
      clearInterval(timer);
      socket.write(stream.end);
    }
  }, delayMs);
}

function stamped({ token, stampAt }: StreamBytes): Buffer {
  const copy = Buffer.from(token);
  copy.write(String(clockUs()).padStart(stampDigits, '0'), stampAt, 'latin1');
  return copy;
}

function wholeStream({ start, token, end }: StreamBytes, tokens: number): Buffer {
  return Buffer.concat([start, ...Array.from({ length: tokens }, () => token), end]);
}

function made<T>(cache: Map<string, T>, name: string, make: () => T): T {
  const known = cache.get(name);
  if (known !== undefined) return known;
  const value = make();
  cache.set(name, value);
  return value;
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' ? address?.port : undefined);
});
process.on('disconnect', () => process.exit());
