export interface ServerSentEvent {
  event: string;
  data: string;
  /** The last one that was sent, by this event or one before. */
  id: string;
}

/** A parser of `text/event-stream` (WHATWG HTML, section 9.2.6) that takes pieces of text as they come. */
export function eventParser(): (piece: string) => ServerSentEvent[] {
  let rest = '';
  let id = '';
  let event = '';
  let data: string[] = [];

  const take = (line: string): ServerSentEvent | undefined => {
    if (line === '') {
      const done = data.length > 0 ? { event: event || 'message', data: data.join('\n'), id } : undefined;
      event = '';
      data = [];
      return done;
    }
    const at = line.indexOf(':');
    const name = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? '' : line.slice(at + 1).replace(/^ /, '');
    if (name === 'data') data.push(value);
    else if (name === 'event') event = value;
    else if (name === 'id' && !value.includes('\0')) id = value;
    return undefined;
  };

  return (piece) => {
    // A pair of CR and LF may come in two pieces: a CR at the end waits for what follows.
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    return lines.flatMap((line) => take(line) ?? []);
  };
}
