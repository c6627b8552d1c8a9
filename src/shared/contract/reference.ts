import { Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { everyone } from './vocabulary.ts';

/** The description of the API for people. */
export const getReference = endpoint({
  id: 'getReference',
  method: 'GET',
  path: '/docs',
  summary: 'Get the reference of the API as a page.',
  description:
    'What `/v1/openapi.json` describes, with examples, in one HTML page that loads nothing from anywhere. Where scripts may run it can be searched, and calls that only read can be tried.',
  tag: 'Daemon',
  access: everyone,
  surface: 'v1',
  contentType: 'text/html; charset=utf-8',
  responseHeaders: {
    'content-security-policy': 'Lets the page run its own script and speak to this daemon, and nothing else.',
  },
  result: Type.String(),
  errors: ['unauthenticated'],
});
