import type { KnownSecrets } from '../../shared/masking/known-secrets.ts';
import { secretsOfRequest } from '../../shared/masking/mask-headers.ts';
import { maskJsonText } from '../../shared/masking/mask-json.ts';
import { maskText } from '../../shared/masking/mask-text.ts';
import { UpstreamFailure } from '../features/upstreams/upstream.ts';
import type { ProviderRequest } from './adapter.ts';

/** The secrets of a request to a provider, which its error may repeat: searched for once, when they are first asked for. */
export function secretsSent(request: ProviderRequest): () => KnownSecrets {
  let known: KnownSecrets | undefined;
  return () => {
    if (known === undefined) {
      known = secretsOfRequest(request);
      maskJsonText(request.body, { known });
    }
    return known;
  };
}

/** Masks what a failure says to callers and in traces. Returns the same failure. */
export function maskFailure(failure: unknown, secrets: () => KnownSecrets): unknown {
  if (failure instanceof UpstreamFailure && failure.details.publicMessage !== undefined)
    failure.details.publicMessage = maskText(failure.details.publicMessage, { known: secrets() });
  return failure;
}
