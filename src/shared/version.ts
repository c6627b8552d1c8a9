/** The program's version, equal to package.json's (checked by a test). */
export const version = '0.1.0';

/** The version of the API, `info.version` of the OpenAPI document. */
export const apiVersion = '1.0.0-beta';

/** Sent with every response, so that commands can detect another version. */
export const versionHeader = 'x-service-version';

/** Sent with answers to a secret that was replaced: when it ends, as an ISO time. */
export const keyExpiresHeader = 'x-service-key-expires';
