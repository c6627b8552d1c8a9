import { gzipSync } from 'node:zlib';
import { messagesDocument, messagesEvents } from './chaos-messages.ts';
import type { Behaviour, ChaosCall } from './chaos-upstream.ts';
import { chatChunks, chatDocument } from './fake-openai-chat.ts';
import { responsesDocument, responsesEvents } from './fake-openai-responses.ts';
import type { FakeAnswer } from './fake-openai-script.ts';
import { chunk, chunkedHead, lastChunk } from './raw-server.ts';

/** Twenty words: about as many events. Some have letters of two, three and four bytes. */
export const words =
  'The quick brown Füchse jump – over 🌍 lazy dogs while nine old 漢字 wizards quietly mix jade flasks.';

const ordinary: FakeAnswer = { text: words };

/** The server-sent events of a whole answer, one text each; the chat format ends with `[DONE]`. */
export function eventsOf({ wire, body }: Pick<ChaosCall, 'wire' | 'body'>, answer = ordinary): string[] {
  if (wire === 'chat')
    return chatChunks(answer, { ...body, stream: true }).map((data) => `data: ${data}\n\n`);
  const events = wire === 'messages' ? messagesEvents(answer, body) : responsesEvents(answer, body);
  return events.map(
    (event: Record<string, unknown>) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`,
  );
}

function documentOf({ wire, body }: ChaosCall, answer: FakeAnswer): string {
  const documents = { chat: chatDocument, responses: responsesDocument, messages: messagesDocument };
  return JSON.stringify(documents[wire](answer, body));
}

/** A whole HTTP answer as bytes: a chunk an event, or a document. */
export function bytesOf(call: ChaosCall, answer = ordinary): Buffer {
  if (call.stream) return Buffer.from(chunkedHead() + eventsOf(call, answer).map(chunk).join('') + lastChunk);
  const body = documentOf(call, answer);
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
  return Buffer.from(`${head}\r\n\r\n${body}`);
}

function end(call: ChaosCall, bytes: Buffer | string): void {
  call.isAnswered = true;
  call.socket.write(bytes);
}

/** An ordinary answer. */
export function answers(answer = ordinary): Behaviour {
  return (call) => end(call, bytesOf(call, answer));
}

/** Accepts the request and never answers. */
export function hangs(): Behaviour {
  return () => undefined;
}

export function hangsAfterHeaders(): Behaviour {
  return ({ socket }) => socket.write(chunkedHead());
}

/** Sends comments for ever, and nothing else. */
export function onlyComments(everyMs = 50): Behaviour {
  return ({ socket }) => {
    socket.write(chunkedHead());
    const timer = setInterval(() => socket.write(chunk(': still here\n\n')), everyMs);
    socket.once('close', () => clearInterval(timer));
  };
}

/** Sends that many events and then nothing more, with the connection open. */
export function stallsAfter(events: number, answer = ordinary): Behaviour {
  return (call) => {
    if (!call.stream) call.socket.write(bytesOf(call, answer).subarray(0, 100));
    else call.socket.write(chunkedHead() + eventsOf(call, answer).slice(0, events).map(chunk).join(''));
  };
}

/** Sends that many events of a stream, and the others once the promise resolves. */
export function pausesAfter(events: number, until: Promise<void>, answer = ordinary): Behaviour {
  return (call) => {
    stallsAfter(events, answer)(call);
    const rest = eventsOf(call, answer).slice(events).map(chunk).join('') + lastChunk;
    void until.then(() => call.socket.write(rest));
  };
}

/** Breaks the connection after that many bytes of the HTTP answer: by a reset, or by an orderly end. */
export function cutAt(byte: number, by: 'reset' | 'close', answer = ordinary): Behaviour {
  return (call) => {
    const { socket } = call;
    const cut = () => (by === 'reset' ? socket.resetAndDestroy() : socket.end());
    const bytes = bytesOf(call, answer).subarray(0, byte);
    if (bytes.length === 0) cut();
    else socket.write(bytes, cut);
  };
}

/** The same after that many events, however long they are. */
export function cutAfter(events: number, by: 'reset' | 'close', answer = ordinary): Behaviour {
  return (call) => {
    if (!call.stream) return cutAt(150, by, answer)(call);
    const text = chunkedHead() + eventsOf(call, answer).slice(0, events).map(chunk).join('');
    cutAt(Buffer.byteLength(text), by, answer)(call);
  };
}

/** The usual bytes in pieces of that size, each in its own packet. */
export function splitInto(size: number, answer = ordinary): Behaviour {
  return (call) => {
    const bytes = bytesOf(call, answer);
    const next = (at: number) => {
      if (at >= bytes.length) call.isAnswered = true;
      else if (!call.socket.destroyed) {
        call.socket.write(bytes.subarray(at, at + size), () => setImmediate(next, at + size));
      }
    };
    next(0);
  };
}

/** A stream of the ordinary answer whose text of events was changed. */
export function rewritten(change: (text: string) => string | Buffer, answer = ordinary): Behaviour {
  return (call) => {
    const changed = change(eventsOf(call, answer).join(''));
    const body = typeof changed === 'string' ? Buffer.from(changed) : changed;
    end(call, Buffer.concat([Buffer.from(chunkedHead()), chunkOfBytes(body), Buffer.from(lastChunk)]));
  };
}

/** That many ordinary events, then this text. The connection stays open. */
export function insertsAfter(events: number, text: string | Buffer, answer = ordinary): Behaviour {
  return (call) => {
    const before = eventsOf(call, answer).slice(0, events).join('');
    const body = Buffer.concat([Buffer.from(before), Buffer.from(text)]);
    call.socket.write(Buffer.concat([Buffer.from(chunkedHead()), chunkOfBytes(body)]));
  };
}

function chunkOfBytes(body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')]);
}

/** One event without an end, as long as the reader can bear. */
export function endlessEvent(events: number, megabytes = 100): Behaviour {
  return (call) => {
    const before = call.stream ? eventsOf(call).slice(0, events).join('') : '';
    call.socket.write(
      chunkedHead(call.stream ? undefined : 'application/json') + chunk(`${before}data: {"x":"`),
    );
    pump(call, chunk('x'.repeat(0x10000)), megabytes * 16);
  };
}

/** Words for ever, as fast as they are taken. */
export function neverEnds(): Behaviour {
  return (call) => {
    const events = eventsOf(call, { text: 'again '.repeat(30) });
    const at = call.wire === 'chat' ? 2 : 5;
    call.socket.write(chunkedHead() + chunk(events.slice(0, at).join('')));
    pump(call, chunk(events.slice(at, at + 20).join('')), Number.POSITIVE_INFINITY);
  };
}

function pump({ socket }: ChaosCall, text: string, times: number): void {
  const piece = Buffer.from(text);
  let left = times;
  const write = () => {
    while (!socket.destroyed && left > 0) {
      left -= 1;
      if (!socket.write(piece)) return void socket.once('drain', write);
    }
  };
  write();
}

/** One event each so many milliseconds; the last one ends the answer. A whole answer comes in halves. */
export function drips(everyMs: number, answer = ordinary): Behaviour {
  return (call) => {
    const bytes = bytesOf(call, answer);
    const pieces = call.stream
      ? [chunkedHead(), ...eventsOf(call, answer).map(chunk), lastChunk]
      : [bytes.subarray(0, 200), bytes.subarray(200)];
    const stop = () => clearInterval(timer);
    const timer = setInterval(() => {
      const piece = pieces.shift() ?? '';
      if (pieces.length > 0) call.socket.write(piece);
      else {
        stop();
        call.socket.off('close', stop);
        end(call, piece);
      }
    }, everyMs);
    call.socket.once('close', stop);
  };
}

/** An answer with another status, or with another body. */
export function says(
  status: number,
  options: { headers?: string[]; body?: string | Buffer } = {},
): Behaviour {
  const { headers = ['content-type: application/json'], body = '{"error":{"message":"no"}}' } = options;
  return (call) => {
    const lines = [`HTTP/1.1 ${status} Said`, ...headers, `content-length: ${Buffer.byteLength(body)}`];
    end(call, Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), Buffer.from(body)]));
  };
}

export function webPage(): Behaviour {
  return says(200, { headers: ['content-type: text/html'], body: '<html>WEBPAGE</html>' });
}

let bomb: Buffer | undefined;

/** A few kilobytes that would unfold into 64 megabytes. */
export function gzipBomb(): Behaviour {
  bomb ??= gzipSync(Buffer.alloc(64 * 1024 * 1024, 'x'));
  return says(200, { headers: ['content-type: text/event-stream', 'content-encoding: gzip'], body: bomb });
}
