import pg from 'pg';
import { migrate } from '../../../../domain/migrate.ts';
import { emptyDatabase } from '../../../support/postgres.ts';

const TENANT = '0198c5a0-7b3e-7000-8000-000000000001';

test('secrets in remotes that were stored before are removed, the remotes stay', async () => {
  const database = await emptyDatabase();
  const client = new pg.Client(database.url);
  try {
    await migrate(database.url, { to: 'Migration20261121001600_ids_of_workflows' });
    await client.connect();
    await client.query(`insert into tenant (id, slug) values ($1, 'acme')`, [TENANT]);
    const remotes = [
      ['https://ghp_secret@github.com/acme/a.git', 'https://github.com/acme/a.git'],
      ['https://x-access-token:secret@github.com/acme/b?x=1', 'https://github.com/acme/b?x=1'],
      ['https://secret@evil@github.com/acme/c', 'https://github.com/acme/c'],
      ['https://secret@dev.azure.com/acme/p/_git/d', 'https://dev.azure.com/acme/p/_git/d'],
      ['https://Acme@dev.azure.com/acme/p/_git/e', 'https://Acme@dev.azure.com/acme/p/_git/e'],
      ['https://github.com/acme/f@g', 'https://github.com/acme/f@g'],
      ['git@github.com:acme/h', 'git@github.com:acme/h'],
      ['ssh://git@github.com/acme/i', 'ssh://git@github.com/acme/i'],
      ['/srv/git/j@k', '/srv/git/j@k'],
      [null, null],
    ];
    for (const [index, [before]] of remotes.entries()) {
      await client.query(
        `insert into project (id, tenant_id, identifier, remote_url, platform, default_branch)
         values (gen_random_uuid(), $1, $2, $3, 'host-a', 'main')`,
        [TENANT, `acme/${index}`, before],
      );
    }
    await migrate(database.url);
    const { rows } = await client.query<{ remote_url: string | null }>(
      `select remote_url from project order by identifier`,
    );
    expect(rows.map(({ remote_url: url }) => url)).toEqual(remotes.map(([, after]) => after));
  } finally {
    await client.end();
    await database.drop();
  }
});
