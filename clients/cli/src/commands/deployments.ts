import { dataOf, reportReleaseEvent } from '@quayside/client';
import { assertDryRun, type Context, executionId } from '../context.ts';
import { pairs } from '../input.ts';
import type { Outcome } from '../output.ts';

export const STATUSES = ['Success', 'Partial', 'Failed', 'Cancelled'] as const;

export async function reportDeployment(
  context: Context,
  releaseName: string,
  options: {
    domain: string;
    environment: string;
    status: (typeof STATUSES)[number];
    package: string[];
    execution?: string;
    dryRun?: boolean;
  },
): Promise<Outcome> {
  const execution = executionId(context, options.execution);
  const body = {
    repositoryIdentifier: context.repository(),
    domain: options.domain,
    releaseName,
    environmentName: options.environment,
    deploymentStatus: options.status,
    ...(execution !== undefined && { executionId: execution }),
    ...(options.package.length > 0 && { packages: pairs(options.package) }),
  };
  if (options.dryRun) await assertDryRun(context, '/api/release-candidates/release-event');
  const data = await dataOf(
    reportReleaseEvent({
      client: context.client,
      body,
      ...(options.dryRun ? { query: { dryRun: true } } : { headers: context.keyed(body) }),
    }),
  );
  for (const { detail } of data.policyViolations) context.say(`policy: ${detail}`);
  return { data, text: data.message };
}
