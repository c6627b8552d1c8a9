import { Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { everyone } from './vocabulary.ts';

/** The API reference for people. */
export const getReference = endpoint({
  id: 'getReference',
  method: 'GET',
  path: '/docs',
  summary: 'Get the API reference page.',
  description:
    'Everything in `/v1/openapi.json`, with examples, as one HTML page that loads nothing from other hosts. With scripts enabled it can be searched and read-only calls can be tried.',
  tag: 'Daemon',
  access: everyone,
  surface: 'v1',
  contentType: 'text/html; charset=utf-8',
  responseHeaders: {
    'content-security-policy': 'Allows the page to run its own script and to call this daemon, nothing else.',
  },
  result: Type.String(),
  errors: ['unauthenticated'],
});
