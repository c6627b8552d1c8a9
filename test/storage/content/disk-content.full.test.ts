import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AskedContent } from '../../../src/daemon/features/capture/index.ts';
import { ContentNumbers } from '../../../src/daemon/storage/content/content-numbers.ts';
import { ContentThread } from '../../../src/daemon/storage/content/content-thread.ts';
import { DiskShelf, NoSpaceForContent } from '../../../src/daemon/storage/content/disk-shelf.ts';

const workspaceId = 'ws_1';
const megabyte = 1024 * 1024;
const day = 86_400_000;
const dataKey = Buffer.alloc(32, 7);
let folder: string;
let file: string;
let now: number;
let thread: ContentThread;
let warnings: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'content-'));
  file = join(folder, 'content.db');
  now = Date.UTC(2026, 0, 1);
  warnings = [];
});

afterEach(async () => {
  await thread?.close();
  rmSync(folder, { recursive: true, force: true });
});

function start({ days = 7, bytes = 1024 * megabyte, isOnDisk = true, key = dataKey } = {}) {
  thread = new ContentThread({
    settings: () => ({
      memoryBytes: 32 * megabyte,
      redaction: { kinds: [], patterns: [] },
      disk: { days, bytes },
    }),
    isOnDisk: () => isOnDisk,
    disk: { file, dataKey: key },
    now: () => now,
    log: { warn: (_details, message) => warnings.push(message) },
  });
}

async function restart(options?: Parameters<typeof start>[0]) {
  await thread.close();
  start(options);
}

const asked = (requestId: string, body: string, level: AskedContent['level'] = 'disk'): AskedContent => ({
  requestId,
  workspaceId,
  keyId: 'key_1',
  endpoint: '/v1/chat/completions',
  user: null,
  conversation: null,
  at: now,
  level,
  headers: ['user-agent', 'tool/1'],
  body,
  attempts: [],
});
const answered = (requestId: string, answer: string) =>
  ({ requestId, answer, isStream: false, reads: [], isCut: false }) as const;
const everything = { workspaceId, keyId: undefined, user: undefined, before: undefined };
const bodyOf = async (requestId: string) => (await thread.find(workspaceId, requestId))?.body?.text;

/** A text that does not compress. */
function noise(seed: number, length: number): string {
  let state = seed + 1;
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state.toString(36).padStart(6, '0');
  };
  return Array.from({ length: Math.ceil(length / 6) }, next).join('');
}

const bytesInFolder = () =>
  Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));

/** The encrypted texts in the file. */
function sealedTexts(): Buffer[] {
  const database = new Database(file, { readonly: true });
  try {
    return ['parts', 'captures'].flatMap((table) =>
      database.prepare<[], Buffer>(`SELECT sealed FROM ${table}`).pluck().all(),
    );
  } finally {
    database.close();
  }
}

const search = (text: string) =>
  thread.search({
    workspaceId,
    text,
    keyId: undefined,
    since: undefined,
    until: undefined,
    after: undefined,
    limit: 10,
  });

test('content outlives the daemon, and is in the file only encrypted', async () => {
  start();
  thread.asked(asked('req_1', 'A question about umbrellas.'));
  thread.answered(answered('req_1', 'An answer about raincoats.'));
  thread.asked(asked('req_2', 'Of memory only.', 'memory'));
  await restart();
  expect(await thread.find(workspaceId, 'req_1')).toMatchObject({
    level: 'disk',
    isComplete: true,
    headers: ['user-agent', 'tool/1'],
    body: { text: 'A question about umbrellas.', isPartial: false },
    answer: { text: 'An answer about raincoats.' },
  });
  expect(await thread.find('ws_other', 'req_1')).toBeUndefined();
  expect(await bodyOf('req_2')).toBeUndefined();
  expect((await search('RAINcoat')).matches).toMatchObject([{ requestId: 'req_1', part: 'answer' }]);
  const stored = bytesInFolder().toString('latin1');
  for (const text of ['umbrella', 'raincoat', 'tool/1']) expect(stored).not.toContain(text);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('what calls have in common is stored once', async () => {
  start();
  const message = (at: number) => JSON.stringify({ role: 'user', content: noise(at, 2_000) });
  const body = (count: number) =>
    `{"messages":[${Array.from({ length: count }, (_, at) => message(at)).join(',')}]}`;
  for (let count = 1; count <= 40; count++) thread.asked(asked(`req_${count}`, body(count)));
  const { bytes, calls } = await thread.status(workspaceId);
  expect(calls).toBe(40);
  expect(bytes).toBeLessThan(400_000);
  await restart();
  thread.asked(asked('req_41', body(41)));
  expect(await bodyOf('req_41')).toBe(body(41));
  expect((await thread.status(workspaceId)).bytes - bytes).toBeLessThan(20_000);
});

test('no byte of what was deleted is left in the files', async () => {
  start();
  const body = (at: number) =>
    `{"messages":[${JSON.stringify({ content: noise(at, at % 7 === 0 ? 40_000 : 1_500) })}]}`;
  for (let at = 0; at < 120; at++) {
    thread.asked({ ...asked(`req_${at}`, body(at)), keyId: `key_${at % 3}` });
    if (at % 20 === 0) await thread.status(workspaceId);
  }
  for (let at = 0; at < 120; at++) thread.answered(answered(`req_${at}`, noise(1_000 + at, 700)));
  await thread.status(workspaceId);
  const isLeft = (text: Buffer, files: Buffer) => {
    for (let at = 0; at + 24 <= text.length; at += 24)
      if (files.includes(text.subarray(at, at + 24))) return true;
    return false;
  };
  let texts = sealedTexts();
  expect(texts.length).toBeGreaterThan(300);
  const deletions = [
    () => thread.remove(workspaceId, 'req_7'),
    () => thread.clear({ ...everything, keyId: 'key_0' }),
    () => thread.clear(everything),
  ];
  for (const remove of deletions) {
    await remove();
    const kept = sealedTexts();
    const isKept = new Set(kept.map((text) => text.toString('latin1')));
    const deleted = texts.filter((text) => !isKept.has(text.toString('latin1')));
    expect(deleted.length).toBeGreaterThan(1);
    const files = bytesInFolder();
    expect(deleted.filter((text) => isLeft(text, files)).length).toBe(0);
    texts = kept;
  }
  expect(texts).toEqual([]);
  expect(await thread.status(workspaceId)).toMatchObject({ calls: 0, oldestAt: null });
});

test('what a call introduced is gone from later calls, also after a restart', async () => {
  start();
  const shared = JSON.stringify({ content: noise(1, 1_000) });
  thread.asked(asked('req_1', `{"messages":[${shared}]}`));
  thread.asked(asked('req_2', `{"messages":[${shared},"more"]}`));
  await thread.remove(workspaceId, 'req_1');
  await restart();
  expect(await thread.find(workspaceId, 'req_1')).toBeUndefined();
  const { body } = (await thread.find(workspaceId, 'req_2')) ?? {};
  expect(body).toMatchObject({ isPartial: true, text: expect.not.stringContaining(noise(1, 1_000)) });
});

test('short messages of a deleted call are gone from later calls, and from the files', async () => {
  start();
  const word = (text: string) => JSON.stringify({ role: 'user', content: text });
  thread.asked(asked('req_1', `{"messages":[${word('secret word')}]}`));
  thread.asked(asked('req_2', `{"messages":[${word('secret word')},${word('another')}]}`));
  await thread.status(workspaceId);
  const before = sealedTexts();
  await thread.clear({ ...everything, requestIds: new Set(['req_1']) });
  const files = bytesInFolder();
  const after = new Set(sealedTexts().map((text) => text.toString('latin1')));
  const deleted = before.filter((text) => !after.has(text.toString('latin1')));
  expect(deleted.length).toBeGreaterThan(1);
  expect(deleted.some((text) => files.includes(text))).toBe(false);
  await restart();
  thread.asked(asked('req_3', `{"messages":[${word('secret word')},${word('another')}]}`));
  const textOf = async (request: string) => (await thread.find(workspaceId, request))?.body;
  expect(await textOf('req_2')).toMatchObject({
    isPartial: true,
    text: `{"messages":[${word('[deleted]')},${word('another')}]}`,
  });
  // It was said again.
  expect(await textOf('req_3')).toMatchObject({ isPartial: false, text: expect.stringContaining('secret') });
});

describe('content is deleted', () => {
  test('after some days, also what was kept by an earlier daemon', async () => {
    start();
    const shared = JSON.stringify({ content: noise(9, 1_000) });
    const body = (text: string) => `{"messages":[${shared},${JSON.stringify(text)}]}`;
    thread.asked(asked('req_old', body(noise(1, 600))));
    await thread.status(workspaceId);
    now += 5 * day;
    thread.asked(asked('req_new', body('new')));
    await restart();
    now += 3 * day;
    await thread.prune();
    await expect.poll(() => bodyOf('req_old')).toBeUndefined();
    // What the newer call shares with it stays.
    expect(await bodyOf('req_new')).toBe(body('new'));
    now += 5 * day;
    await restart({ isOnDisk: false });
    await expect
      .poll(async () => {
        await thread.prune();
        return readdirSync(folder);
      })
      .toEqual([]);
  });

  test('the oldest first, once the file is too large', async () => {
    const bytes = 2 * megabyte;
    start({ bytes });
    for (let at = 0; at < 120; at++) {
      now += 2_000;
      thread.asked(asked(`req_${at}`, noise(at, 40_000)));
      if (at % 10 === 0) await thread.status(workspaceId);
    }
    await expect.poll(async () => (await thread.status(workspaceId)).bytes).toBeLessThan(bytes);
    const { calls } = await thread.status(workspaceId);
    expect(calls).toBeGreaterThan(20);
    expect(await bodyOf('req_119')).toBe(noise(119, 40_000));
    expect(await bodyOf('req_0')).toBeUndefined();
    expect(statSync(file).size).toBeLessThan(1.6 * bytes);
  });
});

describe('a file that cannot be read is replaced, with one warning', () => {
  const damage: [string, () => void][] = [
    ['another program’s', () => writeFileSync(file, 'no database'.repeat(1_000))],
    ['shortened', () => truncateSync(file, 5_000)],
    [
      'overwritten',
      () =>
        writeFileSync(file, Buffer.concat([readFileSync(file).subarray(0, 4_096), Buffer.alloc(200_000, 1)])),
    ],
  ];
  test.each(damage)('%s', async (_, harm) => {
    start();
    for (let at = 0; at < 20; at++) thread.asked(asked(`req_${at}`, noise(at, 5_000)));
    await thread.close();
    harm();
    start();
    await thread.find(workspaceId, 'req_1').catch(() => {});
    thread.asked(asked('req_new', 'new'));
    await thread.find(workspaceId, 'req_new').catch(() => {});
    thread.asked(asked('req_newer', 'newer'));
    expect(await bodyOf('req_newer')).toBe('newer');
    expect(warnings).toEqual([
      expect.stringMatching(/content\.db cannot be read .*: the content that it kept is lost/),
    ]);
  });

  test('written with another key', async () => {
    start();
    thread.asked(asked('req_1', 'secret'));
    await restart({ key: Buffer.alloc(32, 8) });
    expect(await bodyOf('req_1')).toBeUndefined();
    expect(warnings).toHaveLength(1);
    thread.asked(asked('req_2', 'new'));
    expect(await bodyOf('req_2')).toBe('new');
  });

  test('deleted while the daemon runs', async () => {
    start();
    thread.asked(asked('req_1', 'first'));
    await thread.status(workspaceId);
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    thread.asked(asked('req_2', 'second'));
    expect(await bodyOf('req_2')).toBe('second');
    expect(warnings).toEqual([expect.stringContaining('was moved or deleted')]);
    await restart();
    expect(await bodyOf('req_2')).toBe('second');
  });
});

test('before the disk is full, nothing more is stored; what is there can be read', () => {
  let free = 1024 * megabyte;
  const numbers = new ContentNumbers();
  const options = { file, key: dataKey, numbers, freeBytes: () => free };
  const first = new DiskShelf(options);
  first.together(() => first.addPart('digest', Buffer.from('part'), 1));
  first.close();
  free = 100 * megabyte;
  const shelf = new DiskShelf(options);
  expect(() => shelf.together(() => {})).toThrow(NoSpaceForContent);
  expect(shelf.part(1)?.packed.toString()).toBe('part');
  shelf.close();
});

test('a folder at its path costs the content alone', async () => {
  mkdirSync(join(file, 'inside'), { recursive: true });
  start();
  thread.asked(asked('req_1', 'first'));
  expect(await bodyOf('req_1')).toBeUndefined();
  expect(warnings).toHaveLength(1);
  expect(readdirSync(file)).toEqual(['inside']);
});
