import { parseArgs } from 'node:util';
import { matchRules } from '../domain/review-rules/review-match-rules.ts';
import { Figures, quantile } from './figures.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures review environments: the comparison of 2,000 rules by itself, and the route that tests them. Options:
 * `--rounds 3`, `--requests 1000` tests of rules per round.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, requests: { type: 'string', default: '1000' } },
});
const ROUNDS = Number(options.rounds);
const RULES = 2_000;
const CONNECTIONS = 4;
const repositoryIdentifier = 'bench/shop';

const service = await startService([]);
try {
  const figures = new Figures();
  const { id: projectId } = await service.call<{ id: string }>('POST', '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
  });
  await service.call('POST', '/api/review/pools', { repositoryIdentifier, tag: 'rules', type: 'SANDBOX' });
  // Of one branch, some 20 rules match: those for all branches, and a prefix.
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
  figures.print();
} finally {
  await service.stop();
}
