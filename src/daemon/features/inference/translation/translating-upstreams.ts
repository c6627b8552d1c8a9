import type { Upstream } from '../upstream.ts';
import { withPlainTools } from './plain-tools.ts';

interface Upstreams {
  get(provider: string): Upstream | undefined;
}

/** The upstreams, with the tools of a call replaced where a provider does not speak the caller's format. */
export function translatingUpstreams(upstreams: Upstreams): Upstreams {
  return {
    get(provider) {
      const upstream = upstreams.get(provider);
      return upstream && translating(upstream);
    },
  };
}

function translating(upstream: Upstream): Upstream {
  return {
    ...upstream,
    async open(call, signal) {
      // The Responses format has all kinds of tools.
      const isNative = call.wire === call.inference.wire || call.wire === 'responses';
      const plain = isNative ? undefined : withPlainTools(call.inference);
      if (plain === undefined) return await upstream.open(call, signal);
      return plain.restore(await upstream.open({ ...call, inference: plain.inference }, signal));
    },
  };
}
