/**
 * The frames that server-sent events travel as on a socket: the JSON text of each event by itself. Neither comments nor
 * the closing `[DONE]` are told. `events` are whole events, whose JSON holds no raw line end.
 */
export function framesOf(events: string): string[] {
  const frames: string[] = [];
  for (const event of events.split('\n\n')) {
    const at = event.startsWith('data: ') ? 0 : event.indexOf('\ndata: ') + 1;
    if (at === 0 && !event.startsWith('data: ')) continue;
    const data = event.slice(at + 'data: '.length);
    if (data !== '[DONE]') frames.push(data);
  }
  return frames;
}
