import { formatAuthUrl, parseAuthUrl } from '../../../../domain/orgs/crm/auth-url-rules.ts';
import { permittedAuthUrl, permittedOrigin } from '../../../../domain/orgs/crm/org-origin.ts';
import { outboundAddresses } from '../../../../domain/kernel/outbound/outbound-addresses.ts';

const parsed = (text: string) => {
  const result = parseAuthUrl(text);
  return result.isOk ? result.authUrl : result.reason;
};

describe('Auth URLs', () => {
  test('give the client, the token and the login host', () => {
    expect(parsed('force://PlatformCLI::5Aep861.a_b-c==@acme.my.salesforce.com')).toEqual({
      clientId: 'PlatformCLI',
      clientSecret: '',
      refreshToken: '5Aep861.a_b-c==',
      loginUrl: 'https://acme.my.salesforce.com',
    });
    expect(parsed('force://3MVG9:12AB:tok@ACME.my.salesforce.com:8443')).toMatchObject({
      clientSecret: '12AB',
      loginUrl: 'https://acme.my.salesforce.com:8443',
    });
    expect(parsed('force://tok@acme.my.salesforce.com')).toMatchObject({
      clientId: 'PlatformCLI',
      refreshToken: 'tok',
    });
    expect(parsed('force://a::b@127.0.0.1:4000')).toMatchObject({ loginUrl: 'http://127.0.0.1:4000' });
  });

  test('are written as they were read', () => {
    for (const text of [
      'force://PlatformCLI::tok=@acme.my.salesforce.com',
      'force://a:b:c@localhost:4000',
      'force://a:b:c@quayside.example.com/base/mocks/AbCdEfGhIjKlMnOpQrStUv/instance',
    ])
      expect(formatAuthUrl(parsed(text) as never)).toBe(text);
  });

  test.each([
    ['', 'is not of the form'],
    ['00D5g000004eD3s!AQ', 'sf org auth show-sfdx-auth-url'],
    ['{"result":{"sfdxAuthUrl":"force://tok@acme.my.salesforce.com"}}', 'is JSON: give the value of its sfdxAuthUrl'],
    ['[REDACTED]', 'has its secret hidden: `sf org login web`'],
    ['force://PlatformCLI::***@acme.my.salesforce.com', 'has its secret hidden'],
    ['force://PlatformCLI::tok@https://acme.my.salesforce.com', 'give its host alone'],
    ['force://PlatformCLI::tok@http://acme.my.salesforce.com', 'give its host alone'],
    ['force://PlatformCLI::tok@acme.my.salesforce.com/', 'has a slash behind its host'],
    ['https://acme.my.salesforce.com', 'is not of the form'],
    ['force://a:b@acme.my.salesforce.com', 'is not of the form'],
    [`force://${'a'.repeat(4_000)}@acme.my.salesforce.com`, 'is longer than 4000 characters'],
    ['force://a::b@c@acme.my.salesforce.com', 'is not of the form'],
    ['force://::tok@acme.my.salesforce.com', 'has no client id'],
    ['force://PlatformCLI::@acme.my.salesforce.com', 'has no refresh token'],
    ['force://@acme.my.salesforce.com', 'has no refresh token'],
    ['force://PlatformCLI::undefined@acme.my.salesforce.com', 'has the word undefined as its refresh token'],
    ['force://undefined@acme.my.salesforce.com', 'has the word undefined as its refresh token'],
    ['force://undefined::tok@acme.my.salesforce.com', 'has the word undefined as its client id'],
    ['force://PlatformCLI::tok\n@acme.my.salesforce.com', 'contains a line break'],
    ['force://PlatformCLI::tok@acme.my.salesforce.com\r\n', 'contains a line break'],
    ['force://PlatformCLI::to k@acme.my.salesforce.com', 'contains spaces'],
    ["force://PlatformCLI::to'k@acme.my.salesforce.com", 'characters that none has'],
    ['force://PlatformCLI::tok@', 'has no host'],
    ['force://PlatformCLI::tok@acme.my.salesforce.com/evil', 'has a host that is not a name'],
    ['force://PlatformCLI::tok@acme.my.salesforce.com/mocks/AbCdEfGhIjKlMnOpQrStUv', 'is not that of a host alone'],
    ['force://PlatformCLI::tok@acme.my.salesforce.com#evil', 'has a host that is not a name'],
    ['force://PlatformCLI::tok@acme.my.salesforce.com:99999', 'has a port'],
    ['force://PlatformCLI::tok@acme.my.salesforce.com.', 'ends in a dot'],
    ['force://PlatformCLI::tok@2130706433', 'read in several ways'],
    ['force://PlatformCLI::tok@0x7f.1', 'read in several ways'],
    ['force://PlatformCLI::tok@127.1', 'read in several ways'],
    ['force://PlatformCLI::tok@аcme.my.salesforce.com', 'other than ASCII'],
    ['force://PlatformCLI::tok@[fe80::1%25eth0]', 'is not an IPv6 address'],
  ])('%p is refused: %s', (text, reason) => {
    const result = permittedAuthUrl(text, outboundAddresses(''));
    expect(result).toEqual({ isOk: false, reason: expect.stringContaining(reason) });
    expect((result as { reason: string }).reason).not.toContain('tok@');
  });

  test.each(['10.1.2.3', '169.254.169.254', '192.168.1.1:8443', '[::1]', '[fe80::1]', 'localhost:3000', '127.0.0.1'])(
    'a private host is refused: %s',
    (host) =>
      expect(permittedAuthUrl(`force://PlatformCLI::tok@${host}`, outboundAddresses(''))).toMatchObject({
        isOk: false,
        reason: expect.stringContaining('is not at a public address'),
      }),
  );

  test('this machine is called without TLS where the operator opens it, and nothing else is', () => {
    const addresses = outboundAddresses('127.0.0.0/8,10.0.0.0/8');
    expect(permittedAuthUrl('force://a::tok@127.0.0.1:4000', addresses).isOk).toBe(true);
    expect(permittedOrigin('http://127.0.0.1:4000/', addresses)).toEqual({
      isOk: true,
      origin: 'http://127.0.0.1:4000',
    });
    expect(permittedOrigin('https://10.1.2.3', addresses).isOk).toBe(true);
    for (const url of [
      'http://10.1.2.3',
      'http://acme.my.salesforce.com',
      'https://acme.my.salesforce.com/path',
      'https://user:password@acme.my.salesforce.com',
      'ftp://acme.my.salesforce.com',
      'not a url',
    ])
      expect(permittedOrigin(url, addresses).isOk).toBe(false);
  });
});
