/** The text is not a valid invoice; `message` is a sentence without a subject: `has an invalid checksum`. */
export class InvalidInvoice extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidInvoice';
  }
}
