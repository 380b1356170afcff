import { connect } from 'node:net';
import type pg from 'pg';
import { pgConnection } from '../overrides/pg-connection.ts';

const CANCEL_REQUEST = 80_877_102;
const CANCEL_MS = 2_000;

/**
 * Cancels what a connection is running, by PostgreSQL's cancel request (protocol 3.0, section "Canceling Requests in
 * Progress"). It may arrive late and hit a later statement, so that the connection must be closed afterwards.
 */
export async function cancelStatement(client: pg.ClientBase): Promise<void> {
  const { host, port, processID, secretKey } = pgConnection(client);
  const request = Buffer.alloc(16);
  [16, CANCEL_REQUEST, processID, secretKey].forEach((value, index) => request.writeInt32BE(value, index * 4));
  await new Promise<void>((resolve) => {
    const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    socket
      .setTimeout(CANCEL_MS, () => socket.destroy())
      .once('connect', () => socket.end(request))
      .on('error', () => undefined)
      .once('close', () => resolve())
      .resume();
  });
}
