import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { callbackify } from 'node:util';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  /** Addresses of the envelope, which decide where it goes. */
  from: string;
  to: string[];
  /** As it came, headers and all. */
  raw: string;
  parsed: Email;
}

export interface MailServer {
  url: string;
  mails: ReceivedMail[];
  /** From now on recipients are refused with this code of RFC 5321; undefined: taken again. */
  refuse: (code: number | undefined) => void;
  close: () => Promise<void>;
}

/** A mail server on loopback that wants a sign-in and keeps what it gets. */
export async function mailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  let refusal: number | undefined;
  const keep = callbackify(async (mail: Omit<ReceivedMail, 'parsed'>) => {
    mails.push({ ...mail, parsed: await PostalMime.parse(mail.raw) });
  });
  const server = new SMTPServer({
    authOptional: false,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, done) =>
      username === 'quayside' && password === 'mail secret' ? done(null, { user: username }) : done(new Error('no')),
    onRcptTo: (_address, _session, done) =>
      refusal === undefined ? done() : done(Object.assign(new Error('refused'), { responseCode: refusal })),
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const to = envelope.rcptTo.map(({ address }) => address);
        keep(
          {
            from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
            to,
            raw: Buffer.concat(chunks).toString(),
          },
          done,
        );
      });
    },
  });
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  return {
    url: `smtp://quayside:mail%20secret@127.0.0.1:${port}`,
    mails,
    refuse: (code) => {
      refusal = code;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** A server that takes connections and says nothing. */
export async function hangingServer(): Promise<{ url: string; close: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
