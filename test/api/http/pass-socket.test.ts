import { once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { passSocket } from '../../../api/http/sockets/pass-socket.ts';

test('a connection that is closed already is passed to nobody, and its host keeps no place for it', async () => {
  let asked = 0;
  const host = createServer().on('upgrade', (_, socket) => {
    asked++;
    socket.destroy();
  });
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
  const address = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  const connection = new Socket();
  connection.destroy();
  await once(connection, 'close');
  const passed = passSocket(new IncomingMessage(connection), connection, Buffer.alloc(0), { address, token: 'x' });
  await expect(passed).rejects.toThrow('has left');
  expect(asked).toBe(0);
  host.close();
});
