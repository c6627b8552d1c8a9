import { Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { everyone } from './vocabulary.ts';

/** Sums and states of the whole daemon, for Prometheus. */
export const getMetrics = endpoint({
  id: 'getMetrics',
  underLoad: 'kept',
  method: 'GET',
  path: '/metrics',
  summary: 'Get the metrics.',
  description:
    'In the text format of Prometheus. On the machine itself nobody needs a key; from elsewhere it takes a key of the host’s own workspace with the scope `traces:read`, or the login of whoever runs the daemon.',
  tag: 'Daemon',
  access: everyone,
  surface: 'v1',
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  result: Type.String(),
  errors: ['unauthenticated', 'out_of_scope', 'permission'],
});
