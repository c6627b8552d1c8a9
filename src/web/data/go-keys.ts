import { addKeys } from './keys.ts';
import { hrefOf, navigate } from './route.ts';

/** `g` and the key of a screen go to it. */
export function addScreenKeys(screens: readonly { name: string; key: string }[]): () => void {
  return addKeys(
    Object.fromEntries(screens.map(({ name, key }) => [`g ${key}`, () => navigate(hrefOf(name))])),
  );
}
