import { createConnection, type Socket } from 'node:net';

/** Keeps a test that hangs from hanging for ever. */
const NET_MS = 120_000;

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A connection on which a test writes what no HTTP client would. */
export interface RawConnection {
  socket: Socket;
  write: (bytes: string | Uint8Array) => void;
  /** The next reply with a `Content-Length`; fails when the connection ends before it is complete. */
  answer: () => Promise<RawAnswer>;
  /** Resolves when the service has closed the connection. */
  closed: Promise<void>;
}

export function rawConnection(url: string): RawConnection {
  const { port } = new URL(url);
  const socket = createConnection(Number(port), '127.0.0.1');
  let received = '';
  let onChange = () => {};
  let isClosed = false;
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    received += text;
    onChange();
  });
  // A connection that is reset also emits `close`.
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      isClosed = true;
      onChange();
      resolve();
    });
  });

  const take = (): RawAnswer | undefined => {
    const headEnd = received.indexOf('\r\n\r\n');
    if (headEnd < 0) return undefined;
    const [statusLine = '', ...lines] = received.slice(0, headEnd).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const bodyEnd = headEnd + 4 + Number(headers['content-length'] ?? 0);
    if (received.length < bodyEnd) return undefined;
    const body = Buffer.from(received.slice(headEnd + 4, bodyEnd), 'latin1').toString('utf8');
    received = received.slice(bodyEnd);
    return { status: Number(statusLine.split(' ')[1]), headers, body };
  };

  const answer = () =>
    new Promise<RawAnswer>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`no answer in ${NET_MS} ms, but ${received.slice(0, 200)}`)),
        NET_MS,
      );
      onChange = () => {
        const found = take();
        if (found === undefined && !isClosed) return;
        clearTimeout(timer);
        if (found) resolve(found);
        else reject(new Error(`closed without an answer, after ${received.slice(0, 200)}`));
      };
      onChange();
    });

  return { socket, write: (bytes) => void socket.write(bytes), answer, closed };
}
