/** The subset of a pino logger that the storage uses. */
export interface StorageLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}
