import type { ConfigFault } from '../../shared/daemon-module.ts';
import { isLogLevel, logLevels } from './log-levels.ts';

type Environment = Record<string, string | undefined>;

/** The port in an environment variable; adds a fault if it has none. */
export function portOf(name: string, env: Environment, faults: ConfigFault[]): number | undefined {
  const text = env[name];
  if (text === undefined || text === '') return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  faults.push({ place: name, message: 'This must be a port from 0 to 65535.' });
  return undefined;
}

/** A log level; adds a fault if it is none. */
export function levelOf(text: string | undefined, faults: ConfigFault[]): string | undefined {
  if (text === undefined || text === '') return undefined;
  if (isLogLevel(text)) return text;
  faults.push({ place: 'GATEWAY_LOG_LEVEL', message: `This must be one of ${logLevels.join(', ')}.` });
  return undefined;
}
