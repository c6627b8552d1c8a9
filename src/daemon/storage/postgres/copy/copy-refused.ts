/** A database cannot be copied, or copied to. Nothing was changed. `message` is a sentence with the remedy. */
export class CopyRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CopyRefused';
  }
}
