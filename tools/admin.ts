import { parseArgs } from 'node:util';
import { newPassword } from '../domain/auth/secrets.ts';
import { connectOrm } from '../domain/orm.ts';
import { DomainError } from '../domain/shared/errors.ts';
import { generateKeys } from '../domain/shared/keys.ts';
import { createProvisioning, type Provisioning } from '../domain/tenants/provisioning.ts';
import { embeddedDatabaseUrl } from './embedded-postgres.ts';
import { exitWith, OperatorError } from './operator-error.ts';

type Options = Record<string, string | undefined>;

interface Command {
  required: readonly string[];
  optional?: readonly string[];
  run: (provisioning: Provisioning, options: Options) => Promise<unknown>;
}

const TOKEN_DAYS = 365;

/** The password of OWNER_PASSWORD, which is not shown again, or a random one, which is: there is no second chance. */
const password = (): { password: string; shown: { password?: string } } => {
  const given = process.env.OWNER_PASSWORD;
  if (given) return { password: given, shown: {} };
  const made = newPassword();
  return { password: made, shown: { password: made } };
};

const COMMANDS: Record<string, Command> = {
  'create-tenant': {
    required: ['slug', 'owner-email'],
    async run(provisioning, { slug = '', 'owner-email': ownerEmail = '' }) {
      if (!/^[^\s@]+@[^\s@]+$/.test(ownerEmail)) throw new OperatorError(`--owner-email ${ownerEmail} is not an e-mail address.`);
      const { password: chosen, shown } = password();
      const { isKnownUser, ...tenant } = await provisioning.createTenant({ slug, ownerEmail, password: chosen });
      if (isKnownUser) process.stderr.write(`${tenant.ownerEmail} was known already and keeps the password of before.\n`);
      return { ...tenant, ...(!isKnownUser && shown) };
    },
  },
  'list-tenants': {
    required: [],
    async run(provisioning) {
      const tenants = await provisioning.listTenants();
      return tenants.map((tenant) => ({ ...tenant, createdAt: new Date(tenant.createdAt).toISOString() }));
    },
  },
  'reset-password': {
    required: ['tenant', 'email'],
    async run(provisioning, { tenant = '', email = '' }) {
      const { password: chosen, shown } = password();
      await provisioning.resetPassword({ tenant, email, password: chosen });
      return { tenant, email: email.toLowerCase(), ...shown };
    },
  },
  'create-application-token': {
    required: ['tenant', 'name'],
    optional: ['expires-in'],
    async run(provisioning, { tenant = '', name = '', 'expires-in': days = String(TOKEN_DAYS) }) {
      const expiresInDays = Number(days);
      if (!Number.isInteger(expiresInDays) || expiresInDays < 1 || expiresInDays > 3650) {
        throw new OperatorError(`--expires-in ${days} must be a number of days from 1 to 3650.`);
      }
      const { id, expiresAt, token } = await provisioning.createToken({ tenant, name, expiresInDays });
      return { tenant, id, name, expiresAt: new Date(expiresAt).toISOString(), token };
    },
  },
};

const USAGE = `Usage: npm run admin -- COMMAND
  create-tenant --slug acme --owner-email a@example.com
  list-tenants
  reset-password --tenant acme --email a@example.com
  create-application-token --tenant acme --name ci [--expires-in DAYS]
  create-keys
Passwords are taken from OWNER_PASSWORD, else made and printed once. The database is that of DATABASE_URL, else the
running one of DATA_DIR.`;

function optionsOf(name: string, { required, optional = [] }: Command, args: string[]): Options {
  const names = [...required, ...optional];
  let values: Options;
  try {
    ({ values } = parseArgs({ args, options: Object.fromEntries(names.map((option) => [option, { type: 'string' as const }])) }) as {
      values: Options;
    });
  } catch (error) {
    const [sentence] = (error as Error).message.split('. ');
    throw new OperatorError(`${name}: ${sentence}.`);
  }
  const missing = required.find((option) => !values[option]);
  if (missing !== undefined) throw new OperatorError(`${name} needs --${missing}.`);
  return values;
}

function databaseUrl(): string {
  const dataDir = process.env.DATA_DIR || '.data';
  const url = process.env.DATABASE_URL || embeddedDatabaseUrl(dataDir);
  if (url && !/^postgres(ql)?:\/\/[^/]+\/[^/]+/.test(url)) throw new OperatorError('DATABASE_URL must look like postgres://user:password@host:5432/database.');
  if (!url) throw new OperatorError(`No database: set DATABASE_URL, or start the service with npm start so that DATA_DIR (${dataDir}) has one.`);
  return url;
}

async function run(command: Command, options: Options): Promise<unknown> {
  const url = databaseUrl();
  const orm = connectOrm({ databaseUrl: url, poolSize: 2 });
  try {
    return await command.run(createProvisioning(orm), options);
  } catch (error) {
    throw asOperatorError(error, url);
  } finally {
    await orm.close(true);
  }
}

/** What PostgreSQL or the way to it refused, as a sentence that names what to set or do. */
function asOperatorError(error: unknown, url: string): unknown {
  if (!(error instanceof Error) || error instanceof DomainError || error instanceof OperatorError) return error;
  const { code = '' } = error as { code?: string };
  if (/^(ECONN|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|57P03)/.test(code) || /timeout|terminated|ECONN/i.test(error.message)) {
    const where = process.env.DATABASE_URL ? `that DATABASE_URL names (${new URL(url).host})` : 'of DATA_DIR';
    return new OperatorError(`The database ${where} does not answer; is it running?`);
  }
  if (/^(28|3D000)/.test(code)) return new OperatorError(`The database refuses the address in DATABASE_URL: ${error.message}.`);
  if (code === '42P01') return new OperatorError('The database has no tables yet: run npm run migrate first.');
  return error;
}

async function main(): Promise<void> {
  const [name = '', ...args] = process.argv.slice(2);
  if (name === 'create-keys') {
    const { encryptionKeys, tokenKeys } = generateKeys();
    console.log(JSON.stringify({ ENCRYPTION_KEYS: encryptionKeys, TOKEN_KEYS: tokenKeys }, null, 2));
    return;
  }
  if (name === 'help' || name === '--help') {
    console.log(USAGE);
    return;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new OperatorError(`${name ? `There is no command ${name}` : 'A command is missing'}; npm run admin -- help lists them.`);
  console.log(JSON.stringify(await run(command, optionsOf(name, command, args)), null, 2));
}

try {
  await main();
} catch (error) {
  exitWith(error);
}
