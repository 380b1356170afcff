export interface ServerSentEvent {
  /** Empty: no event, but an id that came alone. */
  event: string;
  data: string;
  /** The last one that was sent, by this event or one before. */
  id: string;
}

/** A parser of `text/event-stream` (WHATWG HTML, section 9.2.6) that takes pieces of text as they come. */
export function eventParser(): (piece: string) => ServerSentEvent[] {
  let rest = '';
  let id = '';
  let toldId = '';
  let event = '';
  let data: string[] = [];

  const take = (line: string): ServerSentEvent | undefined => {
    if (line === '') {
      const isEvent = data.length > 0;
      const done = { event: isEvent ? event || 'message' : '', data: data.join('\n'), id };
      const isNews = isEvent || id !== toldId;
      event = '';
      data = [];
      toldId = id;
      return isNews ? done : undefined;
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
