import { openApiDocument } from '../../api/http/openapi/openapi.ts';
import { routes } from '../../api/routes.ts';
import { WARNINGS } from '../../domain/kernel/shared/warning-rules.ts';

const document = openApiDocument(routes, 'http://localhost', {});

interface Schema {
  properties?: Record<string, Schema>;
  enum?: string[];
  description?: string;
}
const schemas = (document.components?.schemas ?? {}) as Record<string, Schema>;

test('the reference describes the shape of warnings, and each code', () => {
  const { code, message, pointer } = schemas.Warning?.properties ?? {};
  expect([message, pointer].every(Boolean)).toBe(true);
  expect(code?.enum).toEqual(Object.keys(WARNINGS));
  for (const [name, description] of Object.entries(WARNINGS))
    expect(code?.description).toContain(`\`${name}\`: ${description}`);
});

test.each([
  ['ProjectWithWarnings', ['unreachable_remote', 'unknown_default_branch', 'package_path_matches_nothing']],
  ['EnvironmentWithWarnings', ['unknown_approver', 'too_few_approvers']],
  ['ReleaseCandidateWithWarnings', ['unknown_commit', 'package_of_other_domain']],
  ['NewWebhook', ['unknown_event', 'unknown_path']],
  ['UpdatedWebhook', ['unknown_event', 'unknown_path', 'headers_dropped']],
  ['WebhookWithStatistics', ['unknown_event', 'unknown_path']],
  ['FlowRunStarted', ['unknown_commit', 'package_of_other_domain', 'unknown_approver', 'too_few_approvers']],
  ['FlowRunDetail', ['unknown_commit', 'unknown_approver']],
  ['ReviewPoolWithWarnings', ['no_builder']],
  ['NewFlowSchedule', ['unknown_commit', 'unknown_approver']],
])('%s can have warnings of %j', (schema, codes) => {
  const description = schemas[schema]?.properties?.warnings?.description ?? '';
  for (const code of codes) expect(description).toContain(`\`${code}\``);
});
