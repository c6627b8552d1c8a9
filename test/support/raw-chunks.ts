import { connect } from 'node:net';

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  /** The chunks of the body exactly as the server wrote them. */
  chunks: string[];
}

/** A POST whose answer is read from the socket, so that the borders of its HTTP chunks can be seen. */
export async function postForChunks(
  url: string,
  { headers, json }: { headers: Record<string, string>; json: unknown },
): Promise<RawAnswer> {
  const { hostname, port, pathname, host } = new URL(url);
  const body = Buffer.from(JSON.stringify(json));
  const reported = {
    host,
    connection: 'close',
    'content-type': 'application/json',
    'content-length': String(body.length),
    ...headers,
  };
  const head = Object.entries(reported).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(Number(port), hostname);
  socket.write(`POST ${pathname} HTTP/1.1\r\n${head.join('')}\r\n`);
  socket.write(body);
  const received: Buffer[] = [];
  for await (const bytes of socket) received.push(bytes as Buffer);
  return parseAnswer(Buffer.concat(received));
}

function parseAnswer(bytes: Buffer): RawAnswer {
  const end = bytes.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const status = Number(statusLine.split(' ')[1]);
  const rest = bytes.subarray(end + 4);
  const isChunked = headers['transfer-encoding'] === 'chunked';
  return { status, headers, chunks: isChunked ? chunksIn(rest) : [rest.toString('utf8')] };
}

function chunksIn(bytes: Buffer): string[] {
  const chunks: string[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (!(size > 0)) return chunks;
    chunks.push(bytes.toString('utf8', lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
