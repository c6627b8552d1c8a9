import { Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { everyone } from './vocabulary.ts';

/** Metrics of the whole daemon, for Prometheus. */
export const getMetrics = endpoint({
  id: 'getMetrics',
  underLoad: 'kept',
  method: 'GET',
  path: '/metrics',
  summary: 'Get metrics.',
  description:
    'In the Prometheus text format. Local requests need no credential; others need a key of the host’s own workspace with the scope `traces:read`, or the daemon owner’s login.',
  tag: 'Daemon',
  access: everyone,
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  result: Type.String(),
  errors: ['out_of_scope', 'permission'],
});
