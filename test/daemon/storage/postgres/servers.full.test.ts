import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { MessageChannel } from 'node:worker_threads';
import pg from 'pg';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { isConnectionLost, PostgresError } from '../../../../src/daemon/storage/postgres/engine/errors.ts';
import { accessTo } from '../../../../src/daemon/storage/postgres/engine/server-access.ts';
import { serveConnection } from '../../../../src/daemon/storage/postgres/engine/server-connection.ts';
import { DatabaseServers } from '../../../../src/daemon/storage/postgres/engine/servers.ts';
import { explainServer } from '../../../../src/daemon/storage/postgres/explain-server.ts';
import { databaseUrlProblem } from '../../../../src/shared/storage/database-url.ts';
import { pauseProcess } from '../../../support/pause-process.ts';
import { testCertificate } from '../../../support/test-certificate.ts';

/** What a server sends for each message of a client; undefined: nothing, and the connection stays open. */
type Answer = (message: 'startup' | 'query', connection: number) => Buffer | undefined | Promise<Buffer>;

const options = { name: 'a test', settings: {} };
const clients: pg.Client[] = [];

const message = (type: string, content: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
};
const ready = message('Z', Buffer.from('I'));
const authenticated = Buffer.concat([message('R', Buffer.alloc(4)), ready]);
const error = (code: string, text: string) =>
  message('E', Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`));
/** The row of a query with one boolean. */
const row = (value: boolean) => {
  const field = Buffer.concat([Buffer.from('\0\x01is_standby\0'), Buffer.alloc(18)]);
  field.writeInt32BE(16, field.length - 12);
  field.writeInt16BE(1, field.length - 8);
  field.writeInt32BE(-1, field.length - 6);
  const data = Buffer.from(`\0\x01\0\0\0\x01${value ? 't' : 'f'}`, 'latin1');
  return Buffer.concat([
    message('T', field),
    message('D', data),
    message('C', Buffer.from('SELECT 1\0')),
    ready,
  ]);
};

const primary: Answer = (asked) => (asked === 'startup' ? authenticated : row(false));
const standby: Answer = (asked) => (asked === 'startup' ? authenticated : row(true));
const refusing =
  (code: string, text: string): Answer =>
  () =>
    error(code, text);

/** The host and port of a server that answers with prepared messages. */
async function serve(answer: Answer): Promise<string> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer(async (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    connections += 1;
    const number = connections;
    let asked: Parameters<Answer>[0] = 'startup';
    socket.on('data', async (piece) => {
      if (piece[0] === 'X'.charCodeAt(0)) return;
      const sent = answer(asked, number);
      asked = 'query';
      if (sent) socket.write(await sent);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const addressOf = (...hosts: string[]) => `postgres://gateway@${hosts.join(',')}/gateway`;
const hostOf = ({ host, port }: pg.Client) => `${host}:${port}`;
const connect = async (servers: DatabaseServers): Promise<pg.Client> => {
  const client = await servers.connect(options);
  clients.push(client);
  return client;
};
const failureOf = (servers: DatabaseServers): Promise<PostgresError> =>
  servers.connect(options).then(
    () => Promise.reject(new Error('it is connected')),
    (reason: PostgresError) => reason,
  );

describe('the servers of an address', () => {
  afterEach(() => {
    for (const client of clients.splice(0)) client.end().catch(() => {});
  });

  test.each<[string, Answer]>([
    ['is a standby', standby],
    ['refuses the password', refusing('28P01', 'password authentication failed')],
    ['has too many clients', refusing('53300', 'sorry, too many clients already')],
  ])('the other one is used while one %s', async (_, answer) => {
    const [one, other] = [await serve(answer), await serve(primary)];
    expect(hostOf(await connect(new DatabaseServers(addressOf(one, other))))).toBe(other);
  });

  test('the other one is used while one accepts connections but stops to answer', async () => {
    const silent = await serve(() => undefined);
    const startedOnly = await serve((asked) => (asked === 'startup' ? authenticated : undefined));
    const other = await serve(primary);
    const soon = 'connect_timeout=0.2';
    const encrypted = new DatabaseServers(`${addressOf(silent)}?sslmode=verify-full&${soon}`);
    const [failure, ...used] = await Promise.all([
      failureOf(encrypted),
      ...[silent, startedOnly].map((one) => connect(new DatabaseServers(`${addressOf(one, other)}?${soon}`))),
    ]);
    expect(failure.message).toBe('the server did not answer within 0.2 s');
    expect(isConnectionLost(failure.code)).toBe(true);
    expect(used.map(hostOf)).toEqual([other, other]);
  });

  test('one that refuses the user does not keep a daemon from waiting for the one that is away', async () => {
    const refused = await serve(refusing('28000', 'no pg_hba.conf entry for host'));
    const away = await serve((_, number) => (number === 1 ? error('57P03', 'it is starting') : undefined));
    const failure = await failureOf(new DatabaseServers(addressOf(refused, away)));
    expect(isConnectionLost(failure.code)).toBe(true);
    expect(failure.message).toBe(`${refused}: no pg_hba.conf entry for host; ${away}: it is starting`);
    expect((await failureOf(new DatabaseServers(addressOf(refused, refused)))).code).toBe('28000');
  });

  test('a server with too many clients is asked again', async () => {
    const full = await serve(refusing('53300', 'sorry, too many clients already'));
    expect(isConnectionLost((await failureOf(new DatabaseServers(addressOf(full)))).code)).toBe(true);
  });

  test('a file of a certificate that is missing is a failure of the connection', async () => {
    const failure = await failureOf(new DatabaseServers(`${addressOf('a', 'b')}?sslrootcert=/missing.pem`));
    expect(failure).toBeInstanceOf(PostgresError);
    expect(failure.message).toMatch(/^a: .*missing\.pem cannot be read \(ENOENT\); b: /);
  });

  test.each([
    ['a password in the clear', 3],
    ['a password as MD5', 5],
  ])('%s is not sent where channel binding is required', async (_what, code) => {
    let isSent = false;
    const asking = Buffer.alloc(8);
    asking.writeInt32BE(code);
    const address = await serve((asked) => {
      isSent ||= asked === 'query';
      return asked === 'startup' ? message('R', code === 3 ? asking.subarray(0, 4) : asking) : ready;
    });
    const url = `postgres://gateway:secret@${address}/gateway?channel_binding=require`;
    expect((await failureOf(new DatabaseServers(url))).message).toMatch(/^channel binding is required/);
    expect(isSent).toBe(false);
  });

  /** A server behind encryption that answers each message with the next of these, and what it was sent. */
  async function serveEncrypted(answers: Buffer[]): Promise<{ address: string; got: string[] }> {
    const got: string[] = [];
    const server = createServer((raw) => {
      raw.on('error', () => {});
      raw.once('data', () => {
        raw.write('S');
        const socket = new TLSSocket(raw, { isServer: true, ...testCertificate });
        socket.on('error', () => {});
        socket.on('data', (piece) => {
          got.push(piece.toString('latin1'));
          const next = answers.shift();
          if (next) socket.write(next);
        });
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
    return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, got };
  }
  const asking = (code: number, rest = '') => {
    const content = Buffer.alloc(4);
    content.writeInt32BE(code);
    return message('R', Buffer.concat([content, Buffer.from(rest)]));
  };
  const offer = asking(10, 'SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0');

  test.each<[string, Buffer[]]>([
    ['asks for the password in the clear after it', [offer, asking(3)]],
    ['asks for the password as MD5 after it', [offer, asking(5, 'salt')]],
    ['offers less after it', [offer, asking(10, 'SCRAM-SHA-256\0\0')]],
    ['wants no proof after it', [offer, authenticated, row(false)]],
    ['claims the proof at once', [offer, asking(12, 'v=c2VydmVy'), authenticated, row(false)]],
  ])('a server that offers channel binding and %s is refused', async (_what, answers) => {
    const { address, got } = await serveEncrypted(answers);
    const url = `postgres://gateway:hunter2@${address}/gateway?sslmode=no-verify&channel_binding=require`;
    expect((await failureOf(new DatabaseServers(url))).message).toMatch(/channel binding is required|SASL/);
    expect(got.join('')).not.toContain('hunter2');
    expect(got.slice(2).join('')).not.toMatch(/md5|SELECT/);
  });

  test('a server that only closes the connection is not blamed for channel binding', async () => {
    const server = createServer((raw) => raw.destroy());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const failure = await failureOf(
      new DatabaseServers(`${addressOf(`127.0.0.1:${port}`)}?channel_binding=require`),
    );
    expect(failure.message).not.toContain('channel binding');
  });

  // A word of its own for what `sslmode` says must not undo it.
  test.each<[string, string | undefined, boolean | 'unchecked']>([
    ['ssl=0&sslmode=verify-full', undefined, true],
    ['ssl=false&sslmode=require', undefined, true],
    ['ssl=true&sslmode=disable', undefined, false],
    ['ssl=true&sslmode=no-verify', undefined, 'unchecked'],
    ['ssl=true', undefined, true],
    ['ssl=1', undefined, true],
    ['ssl=require', undefined, true],
    ['ssl=no-verify', undefined, 'unchecked'],
    ['ssl=false', undefined, false],
    ['ssl=0', undefined, false],
    ['ssl=yes', 'must have true or false as ssl', true],
  ])('?%s', async (parameters, problem, expected) => {
    const url = `${addressOf('db.example')}?${parameters}`;
    expect(databaseUrlProblem(url)).toBe(problem);
    if (problem !== undefined) return;
    const { config } = await accessTo(url);
    const { ssl } = new pg.Client(config) as unknown as { ssl: boolean | { rejectUnauthorized?: boolean } };
    const isChecked =
      typeof ssl === 'object' && ssl.rejectUnauthorized === false ? 'unchecked' : Boolean(ssl);
    expect(isChecked).toBe(expected);
  });

  test.each([
    ['28000', 'connection requires a valid client certificate', /add sslcert=FILE and sslkey=FILE/],
    ['28000', 'certificate authentication failed for user "gateway"', /add sslcert=FILE/],
    ['XX000', 'tlsv13 alert certificate required', /add sslcert=FILE/],
    ['XX000', '/etc/certificate.pem cannot be read (EACCES)', /Check that the server runs/],
    ['XX000', 'self-signed certificate in certificate chain', /Add sslrootcert=FILE/],
  ])('what to do about %s: %s', (code, message, remedy) => {
    const error = explainServer('postgres://a/b', new PostgresError({ code, message })) as Error;
    expect(error.message.split('\n')[1]).toMatch(remedy);
  });

  test('an address is read again when no connection can be opened: its password was changed', async () => {
    const refused = await serve(refusing('28P01', 'password authentication failed'));
    const other = await serve(primary);
    let url = addressOf(refused);
    const reads: string[] = [];
    const servers = new DatabaseServers(
      url,
      () => {},
      async () => {
        reads.push(url);
        if (reads.length === 1) throw new Error('it is being replaced');
        return url;
      },
    );
    expect((await failureOf(servers)).code).toBe('28P01');
    expect((await failureOf(servers)).code).toBe('28P01');
    url = addressOf(other);
    expect(hostOf(await connect(servers))).toBe(other);
    expect(hostOf(await connect(servers))).toBe(other);
    expect(reads).toHaveLength(3);
  });

  test('a connection to a server that comes after another one took over is not used', async () => {
    const late = Promise.withResolvers<Buffer>();
    const previous = await serve((asked, number) => {
      if (asked === 'query') return row(false);
      return number === 1 ? late.promise : error('57P03', 'the database system is shutting down');
    });
    const next = await serve(primary);
    const servers = new DatabaseServers(addressOf(previous, next));
    const first = connect(servers);
    expect(hostOf(await connect(servers))).toBe(next);
    late.resolve(authenticated);
    expect(hostOf(await first)).toBe(next);
    expect(hostOf(await connect(servers))).toBe(next);
  });
});

test('a pause of the daemon is not taken for silence of the server', async () => {
  const answerMs = 100;
  const address = await serve((asked) => {
    if (asked === 'startup') return authenticated;
    // Once the answer was sent. The first query, of the connection, is whether it is a standby.
    setImmediate(() => pauseProcess(answerMs * 2));
    return row(false);
  });
  const { port1, port2 } = new MessageChannel();
  const servers = new DatabaseServers(`${addressOf(address)}?connect_timeout=${answerMs / 1000}`);
  serveConnection(
    { port: port1, answers: new SharedArrayBuffer(4) },
    { servers, name: 'a test', settings: {}, answerMs },
  );
  onTestFinished(() => port2.close());
  for (const message of [{ connect: true }, { script: 'SELECT 1' }]) {
    port2.postMessage(message);
    const [answer] = await once(port2, 'message');
    expect(answer).not.toHaveProperty('failure');
  }
});
