/** The headings of the reference with their descriptions, in the order in which it shows them. */
export const TAGS = {
  Authentication: 'Sign-in of people: sessions, tokens, second factors, passwords',
  Users: 'People of the tenant, their roles, teams and invitations',
  'Application tokens': 'Credentials of pipelines and other programs',
  Integrations: 'Credentials of external systems',
  'CRM orgs': 'Orgs of the CRM platform, and access to them',
  Projects: 'Registered repositories and their configuration',
  Environments: 'Where releases are deployed',
  'Environment locks': 'Exclusive use of an environment, first come, first served',
  'Release candidates': 'What is to be released, and its way through the environments',
  Releases: 'What has been deployed where and when, with changes, work items and metrics',
  Approvals: 'Who must agree before a run goes on, and the history of decisions',
  Flows: 'Runs of deployments and other operations, and their schedules',
  'Flows: internal': 'For whatever carries a run out and reports on it',
  Builds: 'States of builds, hooks of the git hosts, previews of builds',
  'GC ledger': 'Components that packages have dropped, and what became of them in the orgs',
  'Org limits': 'How full the limits of CRM orgs are, and when they will be used up',
  'Org explorer': 'Metadata of orgs: components, their files, and what changed',
  'Org explorer: internal': 'For workers that read orgs themselves',
  'Document store': 'JSON documents with versions, in collections',
  'Chat workspace': 'Slack workspaces in which people are notified, decide and ask',
  Webhooks: 'Subscriptions to events, and their deliveries',
  Audit: 'Who changed what and when, as a chain that shows tampering',
  'Audit: internal': 'For workers that write exports',
  Downloads: 'Files by signed links',
} as const;

export type Tag = keyof typeof TAGS;
