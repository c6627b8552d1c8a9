import { Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { everyoneUnlimited } from './vocabulary.ts';

/** The API reference for people. */
export const getReference = endpoint({
  id: 'getReference',
  method: 'GET',
  path: '/docs',
  summary: 'Get the API reference page.',
  description:
    'Everything in `/v1/openapi.json`, with samples, as one HTML page that loads nothing from other hosts. It can be searched, and calls that read and model calls can be tried in it.',
  tag: 'Daemon',
  access: everyoneUnlimited,
  contentType: 'text/html; charset=utf-8',
  responseHeaders: {
    'content-security-policy': 'Allows the page to run its own script and to call this daemon, nothing else.',
  },
  result: Type.String(),
});

/** What a browser shows for the address of the daemon. */
export const getHome = endpoint({
  id: 'getHome',
  method: 'GET',
  path: '/',
  summary: 'Get the start page.',
  description:
    'For clients that accept `text/html`: the dashboard. For others: what this address is, with a link to the API reference.',
  tag: 'Daemon',
  access: everyoneUnlimited,
  contentType: 'text/html; charset=utf-8',
  responseHeaders: {
    'content-security-policy':
      'Allows the page to use its own styles and scripts and to call this daemon, nothing else.',
  },
  result: Type.String(),
});

/** A file of the dashboard. */
export const getAsset = endpoint({
  id: 'getAsset',
  method: 'GET',
  path: '/assets/{name}',
  summary: 'Get a file of the dashboard.',
  description: 'A script, style or picture. Its name changes with its content, so it may be cached for ever.',
  tag: 'Daemon',
  access: everyoneUnlimited,
  params: Type.Object({ name: Type.String({ maxLength: 128, description: 'As the page names it.' }) }),
  contentType: '*/*',
  result: Type.String(),
});

/** Where the link of a login code leads: the code is in the part after `#`, which browsers do not send. */
export const getLoginPage = endpoint({
  id: 'getLoginPage',
  method: 'GET',
  path: '/login',
  summary: 'Get the login page.',
  description:
    'For browsers: exchanges the code of a login link for an API key, and ends the login. Sets no cookie and stores nothing.',
  tag: 'Daemon',
  access: everyoneUnlimited,
  contentType: 'text/html; charset=utf-8',
  responseHeaders: {
    'content-security-policy': 'Allows the page to run its own script and to call this daemon, nothing else.',
  },
  result: Type.String(),
});
