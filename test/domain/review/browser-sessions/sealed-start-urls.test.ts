import { newStartUrlKey, sealStartUrl } from '../../../../domain/review/browser-sessions/hosts/sealed-start-urls.ts';

const DOOR = new URL('https://acme.example/secur/frontdoor.jsp?otp=SECRET');

test('an address at which a session begins is read by the host that it is for, for that session', async () => {
  const [host, other] = await Promise.all([newStartUrlKey(), newStartUrlKey()]);
  const sealed = await sealStartUrl(DOOR, host.publicKey, 'session-1');
  expect(sealed).not.toContain('SECRET');
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('SECRET');
  expect((await host.open(sealed, 'session-1')).href).toBe(DOOR.href);
  await expect(host.open(sealed, 'session-2')).rejects.toThrow();
  await expect(other.open(sealed, 'session-1')).rejects.toThrow();
  await expect(host.open(`${sealed.slice(0, -2)}AA`, 'session-1')).rejects.toThrow();
  expect(JSON.parse(host.publicKey)).not.toHaveProperty('d');
});
