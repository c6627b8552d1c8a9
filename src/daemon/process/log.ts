import { pino } from 'pino';
import { isoTime } from '../../shared/time.ts';
import { describeFailure } from '../http/error-reply.ts';
import type { LogFile } from './log-file.ts';

/** What must never be written, wherever it turns up in what is logged. */
const secretPaths = [
  'authorization',
  'headers',
  'key',
  'secret',
  'body',
  '*.authorization',
  '*.headers',
  '*.body',
];

/** Structured lines on stderr and, where one is given, in a file. Bodies, headers and credentials are left out by name; nobody hands them in either. */
export function createLog(level: string, file?: LogFile) {
  const stderr = pino.destination({ dest: 2, sync: true });
  const both = {
    write(line: string) {
      stderr.write(line);
      file?.write(line);
    },
  };
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      // An error may carry what was being processed, in its members or in the message of a parser.
      serializers: { err: (error: unknown) => describeFailure(error) },
      redact: { paths: secretPaths, censor: '***' },
    },
    file ? both : stderr,
  );
}

const infoLevel = 30;

/** A line for the file alone, whatever the level: when a daemon began and ended is always wanted there. */
export function noteInFile(file: LogFile, at: number, details: object, message: string): void {
  file.write(`${JSON.stringify({ level: infoLevel, time: isoTime(at), ...details, msg: message })}\n`);
}
