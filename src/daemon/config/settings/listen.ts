import { resolve } from 'node:path';
import { Type } from 'typebox';
import { listenDefaults, workersMax } from '../../../shared/constants/listen-defaults.ts';
import { integer, oneOf, port, publicUrl, text } from './schemas.ts';
import { setting, type Values } from './setting.ts';

const origin = Type.String({
  pattern:
    '^(null|file://|https?://[^\\s/?#@*]+/?|(?!https?:)[A-Za-z][A-Za-z\\d+.-]*://([^\\s/?#@*]+/?|\\*))$',
  maxLength: 500,
  description: 'an origin like https://app.example, app://name or vscode-webview://*, or "null"',
});

export const listenSettings = {
  listen: {
    host: setting(text, { default: listenDefaults.host as string, flag: 'host', live: false }),
    port: setting(port, {
      default: listenDefaults.port as number,
      env: ['GATEWAY_PORT'],
      flag: 'port',
      live: false,
    }),
    socket: setting(Type.String({ minLength: 1, description: 'the path of a socket' }), {
      env: ['GATEWAY_SOCKET'],
      flag: 'socket',
      live: false,
      isPath: true,
    }),
    socket_access: setting(oneOf(['owner', 'group'], 'owner or group: who may connect to the socket'), {
      default: 'owner',
      live: false,
    }),
    allowed_hosts: setting(Type.Array(text, { description: 'a list of names' }), {
      default: [],
      live: false,
    }),
    trusted_proxies: setting(
      Type.Array(text, { description: 'a list of addresses and networks: 10.0.0.7, 10.1.0.0/16, unix' }),
      { default: [], live: false },
    ),
    public_url: setting(publicUrl, { isFileOnly: true }),
  },
  cors: {
    origins: setting(Type.Array(origin, { description: 'a list of origins' }), { default: [], live: false }),
  },
};

export const workerSettings = {
  workers: setting(integer(1, workersMax, 'a number of threads'), {
    default: 1,
    flag: 'workers',
    live: false,
  }),
};

export function listenConfig({ listen, cors }: Values<typeof listenSettings>) {
  return {
    // As addresses have it.
    host: listen.host.replace(/^\[(.*)\]$/, '$1'),
    port: listen.port,
    /** An additional Unix socket to listen on, and who may connect to it. */
    socketFile:
      listen.socket === undefined
        ? undefined
        : { path: resolve(listen.socket), access: listen.socket_access },
    allowedHosts: listen.allowed_hosts,
    trustedProxies: listen.trusted_proxies,
    corsOrigins: cors.origins,
  };
}
