import { typed } from '../data/command.ts';

/** A command as it is typed on the machine of the gateway. */
export function Typed({ children }: { children: string }) {
  return <code>{typed(children)}</code>;
}
