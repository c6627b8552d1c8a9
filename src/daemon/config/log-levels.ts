/** Log levels, most verbose first. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

export type LogLevel = (typeof logLevels)[number];

export function isLogLevel(name: string): name is LogLevel {
  return (logLevels as readonly string[]).includes(name);
}
