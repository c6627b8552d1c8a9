/** The words of each command of a shell line; a command substitution is a separate line, and one word of the outer one. */
export function commandsOf(line: string): string[][] {
  const inner: string[][] = [];
  const flat = line.replace(/ \d?[<>].*$/, '').replace(/\$\(([^()]*)\)/g, (_whole, within: string) => {
    inner.push(...commandsOf(within));
    return 'SUBSTITUTED';
  });
  const commands: string[][] = [[]];
  for (const [, quoted, double, bare, end] of flat.matchAll(
    /'([^']*)'|"([^"]*)"|([^\s'"|&;#]+)|(\|\||&&|[|;&]|#.*$)/g,
  )) {
    if (end !== undefined) commands.push([]);
    else commands.at(-1)?.push(quoted ?? double ?? bare ?? '');
    if (end?.startsWith('#')) break;
  }
  return [...inner, ...commands.map(ofGateway).filter((words) => words.length > 1)];
}

/** From `gateway` on, where that is what runs. */
function ofGateway(words: string[]): string[] {
  const at = words.lastIndexOf('gateway');
  const isRun = words[at - 1] === '--' || words.slice(0, at).every((word) => /^(npx$|[A-Z_]+=)/.test(word));
  return at >= 0 && isRun ? words.slice(at) : [];
}
