import { parseArgs } from 'node:util';
import { matchRules } from '../domain/review/review-rules/review-match-rules.ts';
import { Figures, quantile } from './figures.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures review environments: the comparison of 2,000 rules by itself, and the route that tests them; assignments by
 * rule at 20 a second, and 100 at once for 10 orgs. Options: `--rounds 3`, `--requests 1000` tests of rules and
 * `--assignments 200` per round.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    requests: { type: 'string', default: '1000' },
    assignments: { type: 'string', default: '200' },
  },
});
const ROUNDS = Number(options.rounds);
const RULES = 2_000;
const CONNECTIONS = 4;
const repositoryIdentifier = 'bench/shop';

const service = await startService(['environment-locks-v1']);
try {
  const figures = new Figures();
  const { id: projectId } = await service.call<{ id: string }>('POST', '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
  });
  await service.call('POST', '/api/review/pools', { repositoryIdentifier, tag: 'rules', type: 'SANDBOX' });
  // Some 20 rules match a branch: those for all branches, and a prefix.
  await service.database.query(
    `insert into review_rule (tenant_id, id, project_id, target_type, pool_id, branch_pattern, domain_patterns, priority,
       created_by, updated_by, likeness)
     select $1, uuidv7(), $2, 'pool', (select id from review_pool limit 1),
       case when i % 100 = 0 then '*' when i % 3 = 0 then '*-fix-' || i else 'feature/team-' || i || '/*' end,
       case when i % 4 = 0 then '[]' else jsonb_build_array('domain-' || i % 40, 'sales*', '*-' || i) end,
       i % 7, 'bench', 'bench', 'likeness-' || i
     from generate_series(1, $3::int) i`,
    [service.tenantId, projectId, RULES],
  );
  await service.database.query('vacuum analyze');
  const { rows: rules } = await service.database.query(
    `select id, branch_pattern as "branchPattern", domain_patterns as "domainPatterns", priority,
       is_active as "isActive" from review_rule order by id`,
  );
  const generator = await service.start('./http-load.ts');
  const test = (count: number) =>
    generate(generator, {
      url: service.url,
      token: service.token,
      requests: [
        {
          method: 'POST',
          path: '/api/review/pools/assign/test',
          body: { repositoryIdentifier, branch: 'feature/team-700/checkout', domain: 'sales' },
        },
      ],
      connections: CONNECTIONS,
      count,
    });
  await test(300);
  for (let round = 1; round <= ROUNDS; round++) {
    console.log(`round ${round}`);
    const alone: number[] = [];
    for (let each = 0; each < 200; each++) {
      const startedAt = performance.now();
      matchRules(rules, { branch: 'feature/team-700/checkout', domains: ['sales'] });
      alone.push(performance.now() - startedAt);
    }
    figures.note(`${RULES} rules alone, p50`, quantile(alone, 0.5));
    figures.note(`${RULES} rules alone, p95`, quantile(alone, 0.95), 'ms', '<= 2');
    const cpu = service.measureCpu();
    const { latenciesMs, ...load } = await test(Number(options.requests));
    figures.noteCpu('test of rules', cpu(), Number(options.requests));
    figures.note('test of rules, p50', quantile(latenciesMs, 0.5));
    figures.note('test of rules, p95', quantile(latenciesMs, 0.95), 'ms', '<= 15');
    figures.note('test of rules: other answers than 200', unexpected({ latenciesMs, ...load }, 200), '', '0');
  }
  const register = async (poolId: string, count: number, prefix: string) => {
    for (let n = 0; n < count; n++)
      await service.call('POST', `/api/review/pools/${poolId}/instances`, { username: `${prefix}-${n}@bench` });
  };
  const assignments = (requests: { branch?: string; poolTag?: string; assignmentId: string }[], more: object) =>
    generate(generator, {
      url: service.url,
      token: service.token,
      requests: requests.map((request) => ({
        method: 'POST' as const,
        path: '/api/review/assignments',
        body: { repositoryIdentifier, assignmentType: 'pr', ...request },
      })),
      connections: 100,
      count: requests.length,
      ...more,
    });
  const { items } = await service.call<{ items: { id: string }[] }>('GET', '/api/review/pools');
  const poolId = items[0]?.id ?? '';
  await service.call('PATCH', `/api/review/pools/${poolId}`, { maxInstances: 200 });
  for (let round = 1; round <= ROUNDS; round++) {
    console.log(`assignments, round ${round}`);
    const count = Number(options.assignments);
    await register(poolId, Math.min(200, count), `steady-${round}`);
    const steady = Array.from({ length: count }, (_, n) => ({
      assignmentId: `steady-${round}-${n}`,
      branch: 'feature/team-700/checkout',
    }));
    const cpu = service.measureCpu();
    const { latenciesMs, ...load } = await assignments(steady, { perSecond: 20 });
    figures.noteCpu('assignment by rule, 20 a second', cpu(), count);
    figures.note('assignment by rule, 20 a second, p50', quantile(latenciesMs, 0.5));
    figures.note('assignment by rule, 20 a second, p95', quantile(latenciesMs, 0.95), 'ms', '<= 60');
    figures.note('assignments: other answers than 201', unexpected({ latenciesMs, ...load }, 201), '', '0');
    // The orgs of the next round are others.
    await service.database.query(
      `update review_assignment set state = 'released', ended_at = now() where state in ('pending', 'active')`,
    );
    await service.database.query('delete from review_instance');

    const tag = `rush-${round}`;
    const rush = await service.call<{ id: string }>('POST', '/api/review/pools', {
      repositoryIdentifier,
      tag,
      type: 'SANDBOX',
    });
    await register(rush.id, 10, tag);
    const startedAt = performance.now();
    const { statuses } = await assignments(
      Array.from({ length: 100 }, (_, n) => ({ assignmentId: `${tag}-${n}`, poolTag: tag })),
      {},
    );
    figures.note('100 at once for 10 orgs', (performance.now() - startedAt) / 1_000, 's', '<= 3');
    figures.note('100 at once: active', statuses[201] ?? 0, '', '10');
    figures.note('100 at once: waiting', statuses[202] ?? 0, '', '90');
  }
  figures.print();
} finally {
  await service.stop();
}
