import { pino } from 'pino';

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
      redact: { paths: secretPaths, censor: '***' },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
