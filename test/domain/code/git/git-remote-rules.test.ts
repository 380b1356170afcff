import fc from 'fast-check';
import { isOnServer } from '../../../../domain/code/git/mirror/git-credential-rules.ts';
import { parseGitRemote, shownRemote } from '../../../../domain/projects/remotes/git-remote-rules.ts';
import { permittedRemote } from '../../../../domain/projects/remotes/remote-policy.ts';
import { outboundAddresses } from '../../../../domain/kernel/outbound/outbound-addresses.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

test.each([
  ['https://github.com/acme/shop.git', 'https://github.com/acme/shop.git', 'github.com', 443],
  ['https://GitHub.COM:443/acme/shop.git', 'https://github.com/acme/shop.git', 'github.com', 443],
  ['https://git.example.com:8443/a/b/c/shop/', 'https://git.example.com:8443/a/b/c/shop', 'git.example.com', 8443],
  [
    'https://acme@dev.azure.com/acme/My%20Project/_git/shop',
    'https://dev.azure.com/acme/My%20Project/_git/shop',
    'dev.azure.com',
    443,
  ],
  ['https://Acme@dev.azure.com/acme/p/_git/shop', 'https://dev.azure.com/acme/p/_git/shop', 'dev.azure.com', 443],
  [
    'https://acme@acme.visualstudio.com/p/_git/s',
    'https://acme.visualstudio.com/p/_git/s',
    'acme.visualstudio.com',
    443,
  ],
  ['https://xn--bcher-kva.example/a/b', 'https://xn--bcher-kva.example/a/b', 'xn--bcher-kva.example', 443],
  ['https://gitserver/größe/~x/b_c.d-e', 'https://gitserver/gr%C3%B6%C3%9Fe/~x/b_c.d-e', 'gitserver', 443],
  ['https://93.184.216.34/a', 'https://93.184.216.34/a', '93.184.216.34', 443],
  ['https://[2606:2800:220:0001::1]:8443/a', 'https://[2606:2800:220:1::1]:8443/a', '[2606:2800:220:1::1]', 8443],
  ['ssh://git@github.com/acme/shop.git', 'ssh://git@github.com/acme/shop.git', 'github.com', 22],
  ['ssh://git@altssh.gitlab.com:443/acme/shop', 'ssh://git@altssh.gitlab.com:443/acme/shop', 'altssh.gitlab.com', 443],
  ['ssh://github.com:22/~/shop', 'ssh://git@github.com/~/shop', 'github.com', 22],
  ['ssh://git@[2606:2800:220:1::1]/a', 'ssh://git@[2606:2800:220:1::1]/a', '[2606:2800:220:1::1]', 22],
  ['git@github.com:acme/shop.git', 'git@github.com:acme/shop.git', 'github.com', 22],
  [
    'git@ssh.dev.azure.com:v3/acme/My%20Project/shop',
    'git@ssh.dev.azure.com:v3/acme/My%20Project/shop',
    'ssh.dev.azure.com',
    22,
  ],
  [
    'APKAEIBAERJR2EXAMPLE@Host.example:/v1/repos/x',
    'APKAEIBAERJR2EXAMPLE@host.example:/v1/repos/x',
    'host.example',
    22,
  ],
])('%s is %s', (text, url, host, port) => {
  expect(parseGitRemote(text)).toMatchObject({ isOk: true, remote: { url, host, port } });
  // What was rebuilt is read in the same way again.
  expect(parseGitRemote(url)).toMatchObject({ isOk: true, remote: { url, host, port } });
});

const REFUSED: [string, RegExp][] = [
  // Characters that parsers read differently.
  ['https://good.example\\@evil.example/a', /backslash/],
  ['https://good.example\\.evil.example/a', /backslash/],
  ['https:\\\\good.example\\a', /backslash/],
  ['https://good.example?@evil.example/a', /query/],
  ['https://good.example#@evil.example/a', /fragment/],
  ['https://good.example/a?private_token=x', /query/],
  ['https://good.example/a#x', /fragment/],
  ['https://good.example/a\nb', /control/],
  ['https://good.exa\tmple/a', /control/],
  ['https://good.example\r\n/a', /control/],
  ['https://good.example\0.evil.example/a', /control/],
  ['https://good.example/a b', /spaces/],
  [' https://good.example/a', /spaces/],
  ['https://good.example/a\u00a0', /spaces/],
  ['https://good.example/a\u200b', /invisible/],
  ['https://good.ex\u00adample/a', /invisible/],
  ['https://good.example/\u202egit', /invisible/],
  ['https://good.example/\ud800', /invisible/],
  // User information.
  ['https://dana@good.example/a', /integration/],
  ['https://dana:secret@good.example/a', /password/],
  ['https://:secret@good.example/a', /password/],
  ['https://@good.example/a', /user/],
  ['https://:@good.example/a', /password/],
  ['https://ghp_0123456789abcdefghijklmnopqrstuvwxyz@github.com/a/b', /token/],
  ['https://ghp_token@dev.azure.com/acme/p/_git/r', /token/],
  ['https://acme:pat@dev.azure.com/acme/p/_git/r', /password/],
  ['https://acme@dev.azure.com.evil.example/acme/p', /token/],
  ['https://evil@acme.visualstudio.com/p/_git/r', /token/],
  ['https://x%3Ay@good.example/a', /token/],
  ['https://a@b@good.example/a', /more than one @/],
  ['https://good.example/a@b@c', /more than one @/],
  ['https://good.example/a@b', /path|host/],
  ['https://good.example:443@evil.example/a', /password/],
  ['ssh://git:secret@good.example/a', /password/],
  ['ghp_0123456789abcdefghijklmnopqrstuvwxyz@github.com:a/b', /user/],
  ['glpat-0123456789abcdefghij@gitlab.com:a/b', /token/],
  ['ssh://github_pat_11AAAA@github.com/a/b', /token/],
  // Options for git or ssh.
  ['-oProxyCommand=x', /dash/],
  ['--upload-pack=touch', /dash/],
  ['ssh://-oProxyCommand=x/a', /not a name/],
  ['ssh://git@-oProxyCommand=x/a', /not a name/],
  ['ssh://-oProxyCommand=x@good.example/a', /account/],
  ['-oProxyCommand=x@good.example:a', /dash/],
  ['git@-oProxyCommand=x:a', /not a name/],
  ['git@good.example:-oProxyCommand=x', /unusual/],
  ['git@good.example:--upload-pack=x', /unusual/],
  ['git@good.example:$(touch x)', /unusual|spaces/],
  ['git@good.example:`id`', /unusual/],
  ["git@good.example:a';id;'", /unusual/],
  ['git@good.example:a|b', /unusual/],
  // Hosts.
  ['https:///a', /not a name/],
  ['https://good.example', /no path/],
  ['https://good.example/', /path/],
  ['https://%67ood.example/a', /not a name/],
  ['https://good%2eexample/a', /not a name/],
  ['https://good.example%00.evil.example/a', /not a name/],
  ['https://good.example%2f@evil.example/a', /token/],
  ['https://good.example./a', /dot/],
  ['https://good..example/a', /not a name/],
  ['https://.good.example/a', /not a name/],
  ['https://-good.example/a', /not a name/],
  ['https://good-.example/a', /not a name/],
  ['https://bücher.example/a', /ASCII/],
  ['https://ｇithub.com/a', /ASCII/],
  ['https://github。com/a', /ASCII/],
  ['https://gοοd.example/a', /ASCII/],
  ['https://xn--/a', /not a name/],
  ['https://2130706433/a', /several ways/],
  ['https://0x7f000001/a', /several ways/],
  ['https://0x7f.1/a', /several ways/],
  ['https://0177.0.0.1/a', /several ways/],
  ['https://127.1/a', /several ways/],
  ['https://127.0.0.01/a', /several ways/],
  ['https://1.2.3.4.5/a', /several ways/],
  ['https://256.1.1.1/a', /several ways/],
  ['https://evil.0x1/a', /several ways/],
  ['ssh://git@2130706433/a', /several ways/],
  ['git@0177.0.0.1:a', /several ways/],
  ['git@127.1:a', /several ways/],
  ['git@good.example.:a', /dot/],
  ['git@bücher.example:a', /ASCII/],
  ['https://[fe80::1%25eth0]/a', /IPv6/],
  ['https://[fe80::1%eth0]/a', /IPv6/],
  ['https://[::1/a', /host/],
  ['https://::1/a', /port/],
  ['https://[::1]evil.example/a', /host/],
  ['https://[::0177.0.0.1]/a', /IPv6/],
  ['https://[good.example]/a', /IPv6/],
  ['git@[::1]:a', /IPv6/],
  [`https://${'a'.repeat(64)}.example/a`, /not a name/],
  [`https://${'a.'.repeat(127)}example/a`, /not a name/],
  // Ports.
  ['https://good.example:/a', /port/],
  ['https://good.example:0/a', /port/],
  ['https://good.example:00443/a', /port/],
  ['https://good.example:65536/a', /port/],
  ['https://good.example:99999999999/a', /port/],
  ['https://good.example:-1/a', /port/],
  ['https://good.example:0x1bb/a', /port/],
  ['https://good.example:443:80/a', /host|port/],
  ['ssh://git@good.example:ssh/a', /port/],
  // Paths.
  ['https://good.example//evil.example/a', /empty or relative/],
  ['https://good.example/a/../b', /empty or relative/],
  ['https://good.example/a/%2e%2e/b', /empty or relative/],
  ['https://good.example/a/%2E/b', /empty or relative/],
  ['https://good.example/a%2fb', /escapes/],
  ['https://good.example/a%5cb', /escapes/],
  ['https://good.example/a%0ab', /escapes/],
  ['https://good.example/a%00b', /escapes/],
  ['https://good.example/a%3fb', /escapes/],
  ['https://good.example/a%23b', /escapes/],
  ['https://good.example/a%40b', /escapes/],
  ['https://good.example/a%2540b', /escapes/],
  ['https://good.example/a%zz', /escapes/],
  ['https://good.example/a%c0%af', /escapes/],
  ['ssh://git@good.example/%2d%2d/%0a', /escapes/],
  ['git@good.example:../b', /empty or relative/],
  ['git@good.example://b', /empty or relative/],
  ['git@good.example:a:b', /unusual/],
  ['git@good.example:', /ssh/],
  ['git@good.example', /ssh/],
  // Schemes.
  ['http://good.example/a', /neither/],
  ['git://good.example/a', /neither/],
  ['ftp://good.example/a', /neither/],
  ['git+ssh://git@good.example/a', /neither/],
  ['HTTPS://good.example/a', /neither/],
  ['https:good.example/a', /ssh/],
  ['https:/good.example/a', /ssh/],
  ['//good.example/a', /relative/],
  ['ext::sh -c id', /spaces/],
  ['ext::touch@x:y', /ssh/],
  ['fd::17', /ssh/],
  ['ext::git@good.example:a', /ssh/],
  ['javascript://good.example/a', /neither/],
  ['file://evil.example/a', /absolute/],
  ['file:///a/%2e%2e/b', /absolute/],
  ['file:///a/../b', /relative/],
  ['C:/a', /ssh/],
  ['shop', /ssh/],
  ['', /ssh/],
  [`https://good.example/${'a'.repeat(2_000)}`, /longer/],
];

test.each(REFUSED)('%j is refused', (text, reason) => {
  const parsed = parseGitRemote(text);
  expect(parsed).toEqual({ isOk: false, reason: expect.stringMatching(reason) });
  expect(shownRemote(text)).toBeNull();
});

test('what is accepted, the URL standard reads in the same way', () => {
  const part = fc.string({ unit: fc.constantFrom(...'abz019.-_~@:/\\?#%[]{}$\'"`;|& \t\né。｡ｅ'), maxLength: 12 });
  const remote = fc.tuple(
    fc.constantFrom('https://', 'ssh://', 'ssh://git@', 'https://good.example', 'git@', ''),
    part,
    fc.constantFrom('', '/', ':', '@', ':443/', '/a', '.example/'),
    part,
  );
  fc.assert(
    fc.property(remote, (parts) => {
      const parsed = parseGitRemote(parts.join(''));
      if (!parsed.isOk || parsed.remote.transport === 'file') return;
      const { url, host, port } = parsed.remote;
      expect(url).toMatch(/^[\p{L}\p{N}._~:/@%!*'()[\]+-]+$/u);
      expect(parseGitRemote(url)).toEqual(parsed);
      if (!url.includes('://')) return;
      const read = new URL(url.replace(/^ssh:/, 'https:'));
      expect(read.hostname).toBe(host);
      expect(read.port === '' ? (url.startsWith('ssh') && port !== 443 ? 22 : 443) : Number(read.port)).toBe(port);
      expect(`${read.pathname}${read.search}${read.hash}`).toBe(url.slice(url.indexOf('/', 8)));
    }),
    propertyRuns(5_000, 20_000),
  );
});

test('paths on the machine and private addresses depend on the policy', () => {
  const strict = { addresses: outboundAddresses(''), allowLocal: false };
  const open = { addresses: outboundAddresses('10.0.0.0/8'), allowLocal: true };
  for (const text of ['/srv/git/shop.git', 'file:///srv/git/shop.git']) {
    expect(permittedRemote(text, strict)).toMatchObject({ isOk: false, reason: expect.stringContaining('machine') });
    expect(permittedRemote(text, open)).toEqual({
      isOk: true,
      remote: { transport: 'file', url: '/srv/git/shop.git' },
    });
  }
  for (const [text, host] of [
    ['https://10.0.0.1/a', '10.0.0.1'],
    ['ssh://git@10.0.0.1:2222/a', '10.0.0.1'],
    ['git@10.0.0.1:a', '10.0.0.1'],
    ['https://[::ffff:10.0.0.1]/a', '[::ffff:a00:1]'],
  ] as const) {
    expect(permittedRemote(text, strict)).toEqual({ isOk: false, reason: `${host} is not at a public address` });
    expect(permittedRemote(text, open)).toMatchObject({ isOk: true });
  }
  for (const text of ['https://localhost/a', 'git@a.localhost:b', 'https://169.254.169.254/a', 'git@168.63.129.16:a'])
    expect(permittedRemote(text, open)).toMatchObject({ isOk: false });
});

test.each([
  ['https://github.com/a/b', 'host-a', null, true],
  ['git@github.com:a/b', 'host-a', null, true],
  ['ssh://git@ssh.github.com:443/a/b', 'host-a', null, true],
  ['https://github.com/a/b', 'host-a', 'https://api.github.com', true],
  ['https://api.github.com/a/b', 'host-a', null, false],
  ['https://github.com:8443/a/b', 'host-a', null, false],
  ['https://gist.github.com/a/b', 'host-a', null, false],
  ['https://github.com.evil.example/a/b', 'host-a', null, false],
  ['https://evilgithub.com/a/b', 'host-a', null, false],
  ['https://github.com/a/b', 'host-b', null, false],
  ['https://dev.azure.com/acme/p/_git/r', 'host-b', null, true],
  ['git@ssh.dev.azure.com:v3/a/p/r', 'host-b', null, true],
  ['https://gitlab.com/a/b', 'host-c', null, true],
  ['https://git.acme.example/a/b', 'host-c', 'https://git.acme.example/api/v4', true],
  ['https://git.acme.example:8443/a/b', 'host-c', 'https://git.acme.example:8443/api/v4', true],
  ['https://git.acme.example/a/b', 'host-c', 'https://git.acme.example:8443/api/v4', false],
  ['https://git.acme.example:9000/a/b', 'host-c', 'https://git.acme.example/api/v4', false],
  ['git@git.acme.example:a/b', 'host-c', 'https://git.acme.example:8443/api/v4', true],
  ['git@ssh.git.acme.example:a/b', 'host-c', 'https://git.acme.example', true],
  // Neither a parent domain nor a host below is the server.
  ['https://acme.example/a/b', 'host-c', 'https://git.acme.example', false],
  ['https://evil.git.acme.example/a/b', 'host-c', 'https://git.acme.example', false],
  ['https://gitlab.com/a/b', 'host-c', 'https://git.acme.example', false],
  ['https://acme.ghe.com/a/b', 'host-a', 'https://api.acme.ghe.com', true],
  ['https://ghe.com/a/b', 'host-a', 'https://api.acme.ghe.com', false],
] as const)('a secret of an integration goes to %s (%s at %s): %s', (remote, platform, baseUrl, expected) => {
  const parsed = parseGitRemote(remote);
  if (!parsed.isOk) throw new Error(parsed.reason);
  expect(isOnServer(parsed.remote, platform, baseUrl)).toBe(expected);
});
