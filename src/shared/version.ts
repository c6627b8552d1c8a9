/** The program's version, as in package.json (a test holds them together). */
export const version = '0.1.0';

/** The version of the service's description, in `info.version` of the OpenAPI document. */
export const apiVersion = '1.0.0-beta';

/** Sent with every answer of the daemon, so that a command of another version can say so. */
export const versionHeader = 'x-service-version';
