const MASK = '***';

/** Formats of secrets by their vendors' documents. Each begins where no longer word begins, so that matching is linear. */
const FORMATS: readonly string[] = [
  // GitHub, GitLab, Azure DevOps (new and old), Bitbucket and Jira
  'gh[pousr]_\\w{20,}',
  'github_pat_\\w{20,}',
  'gl[a-z]{2,8}-[\\w-]{16,}',
  '\\w{76}AZDO\\w{4}',
  '[a-z2-7]{52}(?!\\w)',
  'AT(?:ATT|CTT|BB)[\\w=-]{20,}',
  // Salesforce: sessions, refresh tokens, auth URLs of its command line
  '00D\\w{9,15}![\\w.]{20,}',
  '5Aep[\\w.!]{20,}',
  'force://[^\\s"\'\\\\]+',
  // Clouds and models
  '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?!\\w)',
  'AIza[\\w-]{35}',
  'ya29\\.[\\w-]{20,}',
  'sk-[\\w-]{16,}',
  'hf_\\w{30,}',
  // Slack, Stripe, npm, PyPI, SendGrid, receivers of webhooks
  'xox[a-z]-[\\w-]{10,}',
  'xapp-[\\w-]{10,}',
  'https://hooks\\.slack\\.com/[\\w/-]+',
  '[sr]k_(?:live|test)_\\w{10,}',
  'npm_\\w{30,}',
  'pypi-[\\w-]{50,}',
  'SG\\.[\\w-]{16,}\\.[\\w-]{16,}',
  'whsec_[\\w+/=]{16,}',
  // Our own tokens
  'qs_(?:app|run|ref)_[\\w-]{20,}',
  // JSON web tokens
  'eyJ[\\w-]{8,}\\.[\\w-]{8,}\\.[\\w-]*',
];

const TOKEN = new RegExp(`(?<![\\w-])(?:${FORMATS.join('|')})`, 'g');
/** To the end of the key, or of the string that has it. */
const PRIVATE_KEY = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\w+/=\s\\:,-]*/g;
const URL_CREDENTIALS = /(?<![\w+.-])([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/:@"'\\]{0,100}:[^\s/@"'\\]{1,200}@/gi;
const HEADER = /\b(Bearer|Basic)\s{1,5}(?=[a-z._~+/=-]{0,200}\d)[\w.~+/=-]{16,}/gi;
/** With a digit or a sign in the value: `token: expired` stays. */
const ASSIGNED =
  /(pass(?:word|wd|phrase)|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)(\\?["'])?(\s{0,5}[:=]\s{0,5})(\\?["'])?(?=[a-z]{0,200}[^a-z\s"'\\,;)}\]])[^\s"'\\,;)}\]]{6,200}/gi;

/** The text with everything masked that has the format of a secret: it leaves for somebody else's system. */
export const maskSecrets = (text: string): string =>
  text
    .replace(PRIVATE_KEY, MASK)
    .replace(URL_CREDENTIALS, `$1${MASK}@`)
    .replace(HEADER, `$1 ${MASK}`)
    .replace(TOKEN, MASK)
    .replace(
      ASSIGNED,
      (_all, name: string, quote = '', sign: string, open = '') => `${name}${quote}${sign}${open}${MASK}`,
    );
