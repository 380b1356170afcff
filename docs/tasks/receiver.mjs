// Takes webhooks on this machine, and prints those whose signature is good: node docs/tasks/receiver.mjs SECRET
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.argv[2]);
const server = createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  try {
    const { type, data } = webhook.verify(body, request.headers);
    console.log(type, data.releaseName ?? '', data.environmentName ?? '');
    response.writeHead(204).end();
  } catch {
    response.writeHead(401).end();
  }
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
