/**
 * A command in a text, as it has to be typed here: what `npx` started is not on the PATH. Source: npm tells what it runs
 * by `npm_command`.
 */
export function asTyped(text: string, env: Record<string, string | undefined>): string {
  return env.npm_command === 'exec' ? text.replace(/\bgateway (?=[a-z])/g, 'npx gateway ') : text;
}
