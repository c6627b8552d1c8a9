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

/** The longest message of a provider that is shown, in characters. */
const shownCharsMax = 300;

/** Masks and shortens what a failure says to callers and in traces. Returns the same failure. */
export function maskFailure<T>(failure: T, secrets: () => KnownSecrets): T {
  if (failure instanceof UpstreamFailure && failure.details.publicMessage !== undefined) {
    const masked = maskText(failure.details.publicMessage, { known: secrets() });
    failure.details.publicMessage = masked.slice(0, shownCharsMax).toWellFormed();
  }
  return failure;
}
