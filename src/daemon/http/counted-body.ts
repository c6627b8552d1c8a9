import { Transform } from 'node:stream';

/** Passes a body on and reports after each piece how many bytes have come; what that throws ends the body. */
export function countedBody(onBytes: (bytes: number) => void): Transform {
  let bytes = 0;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      bytes += piece.length;
      try {
        onBytes(bytes);
        done(null, piece);
      } catch (error) {
        done(error as Error);
      }
    },
  });
}
