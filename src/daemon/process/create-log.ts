import { pino } from 'pino';
import { maskText, removedText } from '../../shared/masking/mask-text.ts';
import { isoTime } from '../../shared/time/time.ts';
import type { LogDetails } from '../base/log.ts';
import { describeFailure } from '../http/error-reply.ts';
import type { LogFile } from './log-file.ts';

/** Masked wherever they appear in a log line. */
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

export type PinoLog = ReturnType<typeof createLog>;

interface LogDestinations {
  stderr: { write(text: string): unknown };
  file: LogFile;
}

/** A logger that writes JSON lines to stderr and a file. Bodies, headers and credentials are masked. */
export function createLog(level: string, { stderr, file }: LogDestinations) {
  return loggerTo(level, {
    write(line: string) {
      stderr.write(line);
      file.write(line);
    },
  });
}

/** A logger that writes all lines to the file only. */
export function createFileLog(file: LogFile): PinoLog {
  return loggerTo('trace', file);
}

function loggerTo(level: string, destination: Pick<LogFile, 'write'>) {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      // An error can contain user data, in its members or in the message of a parser.
      serializers: { err: (error: unknown) => describeFailure(error) },
      redact: { paths: secretPaths, censor: removedText },
    },
    { write: (line: string) => destination.write(maskText(line)) },
  );
}

const infoLevel = 30;

/** Writes a line to the file only, at any log level: the file always records when a daemon started and stopped. */
export function noteInFile(file: LogFile, at: number, details: LogDetails, message: string): void {
  file.write(`${JSON.stringify({ level: infoLevel, time: isoTime(at), ...details, msg: message })}\n`);
}
