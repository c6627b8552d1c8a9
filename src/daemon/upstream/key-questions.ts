import type { KeyQuestion } from './check-key.ts';

type Asked = 'openai' | 'anthropic' | 'google' | 'openrouter' | 'vercel';

/**
 * What each known provider is asked to learn whether it takes a key. The lists of models of resellers are open to all,
 * so those are asked for the key itself. Sources: the providers' API references. `baseUrl` has no slash at its end.
 */
export function keyQuestion(provider: Asked, baseUrl: string): KeyQuestion {
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  switch (provider) {
    case 'openai':
      return { url: `${baseUrl}/models`, headers: bearer };
    case 'anthropic':
      return {
        url: `${baseUrl}/v1/models?limit=1`,
        headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
      };
    case 'google':
      return { url: `${baseUrl}/models?pageSize=1`, headers: (key) => ({ 'x-goog-api-key': key }) };
    case 'openrouter':
      return { url: `${baseUrl}/key`, headers: bearer };
    case 'vercel':
      return { url: `${baseUrl}/credits`, headers: bearer };
  }
}
