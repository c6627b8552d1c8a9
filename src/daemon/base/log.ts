/** What a line of the log has besides its message. The logger sets these members itself: a second one would replace them for readers. */
export type LogDetails = { level?: never; time?: never; msg?: never; [name: string]: unknown };

/** The part of pino's logger that is used outside `process`. */
export interface Log {
  info(details: LogDetails, message: string): void;
  warn(details: LogDetails, message: string): void;
  error(details: LogDetails, message: string): void;
}
