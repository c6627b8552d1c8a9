import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { whenAborted } from '../../shared/async/when-aborted.ts';
import type { LastingStreams, Writer } from '../io.ts';

/** What a reader has not taken yet is kept up to this length; more is dropped. */
const waitingMax = 1024 * 1024;
/** How long the end of the process waits for a reader. */
const closeMs = 1_000;

/**
 * Standard streams for a process that must outlive their readers and disks. A write neither throws nor waits: what cannot be
 * written is dropped.
 */
export function lastingStreams({ stdout, stderr }: Streams): LastingStreams {
  const all = [stdout, stderr];
  for (const stream of all) stream.on('error', () => {});
  return {
    stdout: writerOf(stdout),
    stderr: writerOf(stderr),
    async close(exit) {
      const end = AbortSignal.timeout(closeMs);
      await Promise.all(all.map((stream) => emptied(stream, end)));
      // Otherwise what a reader never takes would keep the process running.
      if (all.some(isWaiting)) process.exit(exit);
    },
  };
}

type Stream = Writable & { fd: number; isTTY?: boolean };
type Streams = { stdout: Stream; stderr: Stream };

function writerOf(stream: Stream): Writer {
  const isTty = stream.isTTY === true;
  if (stream instanceof Socket) {
    // Node lets writes to a terminal block, which Ctrl-S or a stalled connection can make last for hours.
    if (isTty) (stream as Terminal)._handle?.setBlocking?.(false);
    return { isTty, write: (data) => isWritable(stream) && stream.write(data) };
  }
  // A file or device. Node's stream for it ends with the first error, but a full disk may have space later.
  return { isTty, write: (data) => writeAll(stream.fd, data) };
}

type Terminal = Socket & { _handle?: { setBlocking?(isBlocking: boolean): void } };

function isWritable(stream: Socket): boolean {
  return stream.writable && stream.writableLength < waitingMax;
}

function writeAll(file: number, data: string | Uint8Array): void {
  try {
    let rest = typeof data === 'string' ? Buffer.from(data) : data;
    while (rest.length > 0) rest = rest.subarray(writeSync(file, rest));
  } catch {
    // The next write tries again.
  }
}

function isWaiting(stream: Stream): boolean {
  return stream.writable && stream.writableLength > 0;
}

/** Resolves when nothing waits for the reader, or when the signal is aborted. */
function emptied(stream: Stream, end: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (!isWaiting(stream)) return resolve();
    const check = () => {
      if (!isWaiting(stream)) resolve();
    };
    stream.on('drain', check).on('error', check);
    whenAborted(end, resolve);
  });
}
