import { pino } from 'pino';
import { describeFailure } from './http/error-reply.ts';

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

/** Structured lines on stderr. Bodies, headers and credentials are left out by name; nobody hands them in either. */
export function createLog(level: string) {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      // An error may carry what was being processed, in its members or in the message of a parser.
      serializers: { err: (error: unknown) => describeFailure(error) },
      redact: { paths: secretPaths, censor: '***' },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
