import { Type } from 'typebox';
import { redactionKinds } from '../../../shared/masking/redaction-kinds.ts';
import { flag, integer, oneOf, patterns, text, url } from './schemas.ts';
import { setting, type Values } from './setting.ts';

/** Most verbose first. */
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

export const observationSettings = {
  simulate: setting(text, { flag: 'simulate', isPath: true }),
  telemetry: {
    otlp: {
      endpoint: setting(url, {
        env: ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
        live: false,
      }),
    },
  },
  capture: {
    content: setting(oneOf(['off', 'memory', 'disk'], 'off, memory or disk'), { default: 'memory' }),
    memory_mb: setting(integer(1, 4_096, 'megabytes'), { default: 32 }),
    disk_days: setting(integer(1, 3_650, 'days'), { default: 7 }),
    disk_mb: setting(integer(16, 1_048_576, 'megabytes'), { default: 1024 }),
    redact: setting(
      Type.Array(oneOf(redactionKinds, redactionKinds.join(', ')), {
        maxItems: redactionKinds.length,
        description: `a list of ${redactionKinds.join(', ')}`,
      }),
      { default: [] },
    ),
    redact_patterns: setting(patterns, { default: [] }),
    honour_store_false: setting(flag, { default: false }),
  },
  log: {
    level: setting(oneOf(logLevels, `one of ${logLevels.join(', ')}`), {
      default: 'warn',
      env: ['GATEWAY_LOG_LEVEL'],
      flag: 'logLevel',
    }),
  },
};

export function captureConfig({ capture }: Values<typeof observationSettings>) {
  return {
    /** What is kept of the content of calls. */
    capture: {
      content: capture.content,
      memoryBytes: capture.memory_mb * 1024 ** 2,
      /** The most that is kept on disk. */
      disk: { days: capture.disk_days, bytes: capture.disk_mb * 1024 ** 2 },
      /** What is removed from it, besides credentials. */
      redaction: { kinds: capture.redact, patterns: capture.redact_patterns },
      /** Whether calls with `store: false` are left out. */
      honoursStoreFalse: capture.honour_store_false,
    },
  };
}
