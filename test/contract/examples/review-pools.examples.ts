import { featureExamples, fresh } from './example.ts';

export const reviewPoolsExamples = featureExamples(
  async (app, { repositoryIdentifier }) => {
    const owner = app.as(app.owner);
    const [tag, spare] = [fresh('review'), fresh('spare')];
    const pool = { repositoryIdentifier, type: 'SCRATCH_ORG' };
    const { id: poolId } = await owner.post(201, '/api/review/pools', { ...pool, tag });
    const { id: sparePoolId } = await owner.post(201, '/api/review/pools', { ...pool, tag: spare });
    const instances = `/api/review/pools/${poolId}/instances`;
    const [username, otherUsername] = [`${fresh('org')}@acme.example.com`, `${fresh('org')}@acme.example.com`];
    const { id: instanceId } = await owner.post(201, instances, {
      username,
      cliAuthUrl: 'force://PlatformCLI::refreshToken@login.crm.example.com',
    });
    const { id: otherInstanceId } = await owner.post(201, instances, { username: otherUsername });
    const rule = { repositoryIdentifier, targetType: 'pool', poolTag: tag };
    const { id: ruleId } = await owner.post(201, '/api/review/pools/assign', { ...rule, branchPattern: 'feature/*' });
    const { id: oldRuleId } = await owner.post(201, '/api/review/pools/assign', { ...rule, branchPattern: 'old/*' });
    const allocated = fresh('lent');
    const { id: lentPoolId } = await owner.post(201, '/api/review/pools', { ...pool, tag: allocated });
    for (const name of ['lent-org', 'lent-org', 'lent-org'])
      await owner.post(201, `/api/review/pools/${lentPoolId}/instances`, {
        username: `${fresh(name)}@acme.example.com`,
      });
    const request = { repositoryIdentifier, assignmentType: 'pr', poolTag: allocated };
    const { id: assignmentId } = await owner.post(201, '/api/review/assignments', { ...request, assignmentId: '117' });
    const { id: endingId } = await owner.post(201, '/api/review/assignments', { ...request, assignmentId: '116' });
    return {
      session: `Bearer ${app.owner.token}`,
      allocated,
      assignmentId,
      endingId,
      tag,
      poolId,
      sparePoolId,
      instanceId,
      otherInstanceId,
      username,
      ruleId,
      oldRuleId,
    };
  },
  {
    createReviewRule: ({ repositoryIdentifier, tag }) => ({
      body: {
        repositoryIdentifier,
        targetType: 'pool',
        poolTag: tag,
        branchPattern: 'hotfix/*',
        domainPatterns: ['sales', 'service*'],
        priority: 10,
        description: 'Hotfixes of sales and service',
      },
    }),
    listReviewRules: ({ repositoryIdentifier, tag }) => ({
      query: { repositoryIdentifier, poolTag: tag, targetType: 'pool', isActive: 'true', branchPattern: 'feature' },
    }),
    testReviewRules: ({ repositoryIdentifier }) => ({
      body: { repositoryIdentifier, branch: 'feature/checkout', domain: 'sales' },
    }),
    getReviewRule: ({ ruleId }) => ({ params: { id: ruleId } }),
    updateReviewRule: ({ ruleId }) => ({ params: { id: ruleId }, body: { priority: 5 } }),
    deleteReviewRule: ({ oldRuleId }) => ({ params: { id: oldRuleId } }),
    assignReviewEnvironment: ({ repositoryIdentifier, allocated }) => ({
      body: {
        repositoryIdentifier,
        assignmentType: 'pr',
        assignmentId: '118',
        branch: 'feature/checkout',
        domains: ['sales'],
        poolTag: allocated,
        expirationHours: 48,
      },
    }),
    listReviewAssignments: ({ repositoryIdentifier }) => ({
      query: { repositoryIdentifier, assignmentType: 'pr', state: 'active' },
    }),
    getReviewAssignment: ({ assignmentId }) => ({ params: { id: assignmentId } }),
    extendReviewAssignment: ({ assignmentId }) => ({ params: { id: assignmentId }, body: { hours: 30 } }),
    releaseReviewAssignment: ({ endingId }) => ({ params: { id: endingId } }),
    // Without a session: to the sign-in.
    getReviewEnvPage: ({ assignmentId }) => ({ params: { assignmentId }, status: 302 }),
    submitReviewEnvForm: ({ assignmentId, session }) => ({
      params: { assignmentId },
      form: { action: 'extend', hours: '36' },
      headers: { authorization: session },
    }),
    createReviewPool: ({ repositoryIdentifier }) => ({
      body: {
        repositoryIdentifier,
        tag: fresh('scratch'),
        type: 'SCRATCH_ORG',
        minAvailable: 2,
        maxInstances: 10,
        leaseHours: 24,
        maxLeaseHours: 72,
        onRelease: 'discard',
        definition: { config: 'config/review.json' },
      },
    }),
    listReviewPools: ({ repositoryIdentifier, tag }) => ({ query: { repositoryIdentifier, tag } }),
    getReviewPool: ({ poolId }) => ({ params: { id: poolId } }),
    updateReviewPool: ({ poolId }) => ({ params: { id: poolId }, body: { maxInstances: 20 } }),
    deleteReviewPool: ({ sparePoolId }) => ({ params: { id: sparePoolId } }),
    registerReviewInstance: ({ poolId }) => ({
      params: { id: poolId },
      body: {
        username: `${fresh('review-org')}@acme.example.com`,
        instanceUrl: 'https://review-org.my.crm.example.com',
        metadata: { build: '48151' },
      },
    }),
    listReviewInstances: ({ poolId }) => ({ params: { id: poolId }, query: { state: 'available' } }),
    updateReviewInstance: ({ poolId, instanceId }) => ({
      params: { id: poolId, instanceId },
      body: { state: 'failed', reason: 'its metadata could not be deployed' },
    }),
    removeReviewInstance: ({ poolId, otherInstanceId }) => ({ params: { id: poolId, instanceId: otherInstanceId } }),
  },
);
