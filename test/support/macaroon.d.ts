/** The part of the library that tests use; it has no types of its own. */
declare module 'macaroon' {
  interface LibraryMacaroon {
    addFirstPartyCaveat(condition: string): void;
    exportBinary(): Uint8Array;
    /** Throws unless it is valid; `check` returns an error for a caveat that is not met, else null. */
    verify(rootKey: Uint8Array, check: (caveat: string) => string | null, discharges: []): void;
  }
  export function importMacaroon(bytes: Uint8Array): LibraryMacaroon;
  export function newMacaroon(options: {
    version: 2;
    rootKey: Uint8Array;
    identifier: Uint8Array;
  }): LibraryMacaroon;
}
