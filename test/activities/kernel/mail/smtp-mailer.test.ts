import { createSmtpMailer } from '../../../../activities/adapters/messages/smtp-mailer.ts';
import { hangingServer, type MailServer, mailServer } from '../../../simulators/mail-server.ts';

let server: MailServer;
beforeAll(async () => {
  server = await mailServer();
});
afterAll(() => server.close());

const mail = { to: 'dana@example.com', subject: 'Hello', text: 'Plain – text', html: '<p>Rich</p>' };

test('a mail has a text and an HTML part, one recipient, an id and a date', async () => {
  const send = createSmtpMailer(server.url, 'Quayside <no-reply@quayside.test>');
  await expect(send(mail)).resolves.toEqual({ outcome: 'sent' });
  const received = server.mails.at(-1);
  expect(received).toMatchObject({ from: 'no-reply@quayside.test', to: ['dana@example.com'] });
  const parsed = received?.parsed;
  expect(parsed).toMatchObject({ subject: 'Hello', from: { name: 'Quayside', address: 'no-reply@quayside.test' } });
  expect(parsed?.text?.trim()).toBe('Plain – text');
  expect(parsed?.html?.trim()).toBe('<p>Rich</p>');
  expect(parsed?.messageId).toBeTruthy();
  expect(parsed?.date).toBeTruthy();
});

test.each([
  'dana@example.com\r\nBcc: victim@example.com',
  'dana@example.com, victim@example.com',
  'dana@example.com>\r\nRCPT TO:<victim@example.com',
])('the recipient %j adds no header and no other recipient', async (to) => {
  const send = createSmtpMailer(server.url, 'no-reply@quayside.test');
  const before = server.mails.length;
  await send({ ...mail, to, subject: 'Hello\r\nBcc: victim@example.com\r\n\r\nAnother body' });
  for (const received of server.mails.slice(before)) {
    expect(received.to.filter((address) => address === 'victim@example.com')).toEqual([]);
    expect(received.parsed.bcc ?? []).toEqual([]);
    expect(received.parsed.text?.trim()).toBe('Plain – text');
  }
});

test('failures are values that name no secret', async () => {
  server.refuse(550);
  await expect(createSmtpMailer(server.url, 'a@b.example')(mail)).resolves.toEqual({
    outcome: 'failed',
    reason: 'the mail server refused the mail (550)',
  });
  server.refuse(undefined);
  const wrong = createSmtpMailer(server.url.replace('secret', 'guess'), 'a@b.example');
  await expect(wrong(mail)).resolves.toEqual({
    outcome: 'failed',
    reason: 'the mail server refused the sign-in of the service',
  });
  await expect(createSmtpMailer('smtp://127.0.0.1:1', 'a@b.example')(mail)).resolves.toEqual({
    outcome: 'failed',
    reason: 'the mail server is not reachable',
  });
});

test('a server that hangs is a time-out', async () => {
  const hanging = await hangingServer();
  await expect(createSmtpMailer(hanging.url, 'a@b.example', 200)(mail)).resolves.toEqual({
    outcome: 'failed',
    reason: 'the mail server did not answer in time',
  });
  await hanging.close();
});
