import type { ConfigFault } from '../../shared/daemon-module.ts';
import { decodePercent } from '../../shared/text/decode-percent.ts';
import { trimEnd } from '../../shared/text/trim-text.ts';
import type { Environment } from './settings/setting.ts';
import type { ConfigFile } from './settings/table.ts';

/** The OTLP endpoint for spans, over HTTP. */
export interface OtlpConfig {
  /** The full URL, path included. */
  url: string;
  headers: Record<string, string>;
  /** How spans are encoded; as named, if it is none of ours. */
  protocol: string;
  /** Resource attributes, including `service.name`. */
  resource: Record<string, string>;
  /** How long spans are batched. */
  delayMs: number;
  sampling: Sampling;
}

/** Which calls are reported: as the caller's span says, if it decides, and a share from 0 to 1 of the others. */
type Sampling = { isParentBased: boolean; ratio: number };

/** Those that are supported, of OpenTelemetry's names. */
export const otlpProtocols = ['http/json', 'http/protobuf'] as const;

const tracesPath = '/v1/traces';
const delayMsDefault = 2_000;

/**
 * Undefined unless an endpoint is set. Variables and formats are those of OpenTelemetry: an endpoint for traces is used
 * unchanged, a general one gets the traces path appended.
 */
export function otlpOf(file: ConfigFile, env: Environment, faults: ConfigFault[]): OtlpConfig | undefined {
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return undefined;
  const exporters = env.OTEL_TRACES_EXPORTER?.trim().toLowerCase() || 'otlp';
  if (!exporters.split(/[\s,]+/).includes('otlp')) return undefined;
  const forTraces = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.trim();
  const general = env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim() || file.telemetry?.otlp?.endpoint;
  const url = forTraces || (general && withPath(general));
  if (!url) return undefined;
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    const place = forTraces ? 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT' : 'OTEL_EXPORTER_OTLP_ENDPOINT';
    faults.push({ place, message: 'expected an address that starts with http:// or https://' });
    return undefined;
  }
  const attributes = pairsOf(env.OTEL_RESOURCE_ATTRIBUTES);
  return {
    url,
    headers: {
      ...headersIn(env.OTEL_EXPORTER_OTLP_HEADERS),
      ...headersIn(env.OTEL_EXPORTER_OTLP_TRACES_HEADERS),
    },
    protocol:
      env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL?.trim() ||
      env.OTEL_EXPORTER_OTLP_PROTOCOL?.trim() ||
      otlpProtocols[0],
    delayMs: delayOf(env.OTEL_BSP_SCHEDULE_DELAY),
    sampling: samplingOf(env),
    resource: {
      ...attributes,
      'service.name': env.OTEL_SERVICE_NAME?.trim() || attributes['service.name'] || 'gateway',
    },
  };
}

function delayOf(text = ''): number {
  return /^\d{1,5}$/.test(text.trim()) ? Math.max(1, Number(text)) : delayMsDefault;
}

/** Source: OpenTelemetry's `OTEL_TRACES_SAMPLER`; of others than these, and of an invalid share, all calls are reported. */
function samplingOf({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG = '' }: Environment): Sampling {
  const [, parent, kind] = /^(parentbased_)?(always_off|traceidratio|always_on)$/.exec(
    OTEL_TRACES_SAMPLER?.trim().toLowerCase() || 'parentbased_always_on',
  ) ?? ['', 'parentbased_'];
  const share = OTEL_TRACES_SAMPLER_ARG.trim() === '' ? 1 : Number(OTEL_TRACES_SAMPLER_ARG);
  const ratio = kind === 'always_off' ? 0 : kind === 'traceidratio' && share >= 0 ? Math.min(share, 1) : 1;
  return { isParentBased: parent !== undefined, ratio };
}

function withPath(endpoint: string): string {
  const bare = trimEnd(endpoint, '/');
  return bare.endsWith(tracesPath) ? bare : bare + tracesPath;
}

/** People write headers with a colon, too. */
function headersIn(text: string | undefined): Record<string, string> {
  return pairsOf(text?.replaceAll(/(?<=^|,)(\s*[\w-]+)\s*:(?!\/\/)/g, '$1='));
}

/** `a=b,c=d%20e`; malformed entries are skipped. */
function pairsOf(text: string | undefined): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const part of text?.split(',') ?? []) {
    const [name = '', ...value] = part.split('=').map((text) => text.trim());
    if (name !== '' && !/\s/.test(name) && value.length > 0) pairs[name] = decodePercent(value.join('='));
  }
  return pairs;
}
