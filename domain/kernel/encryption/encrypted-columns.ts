import { totpContext } from '../../identity/auth/second-factors.mutations.ts';
import { hookSecretContext } from '../../ci/builds/hooks.mutations.ts';
import { chatSecretContext } from '../../people/chat/chat-secrets.ts';
import { crmTokenContext } from '../../orgs/crm-orgs/tokens/crm-secrets.ts';
import type { Tables } from '../data/tables.ts';
import { replyContext } from '../idempotency/idempotency.mutations.ts';
import { mockKeyContext } from '../../mocks/mock-keys.ts';
import { integrationSecretContext } from '../../projects/integrations/integrations.mutations.ts';
import { reviewInstanceContext } from '../../review/review-pools/review-instances.mutations.ts';
import { webhookSecretContext } from '../../events/webhooks/webhook-secrets.ts';

/** A column whose values are encrypted, with the key of its table and what a value of a row belongs to. */
export interface EncryptedColumn {
  table: keyof Tables;
  /** As the database names it. */
  column: string;
  /** Names of the key's columns, with their types. */
  key: Readonly<Record<string, 'uuid' | 'text'>>;
  context: (key: Record<string, string>) => string;
}

const BY_ID = { id: 'uuid' } as const;
const ofHooks = (column: string): EncryptedColumn => ({
  table: 'hook_secret',
  column,
  key: { tenant_id: 'uuid', project_id: 'uuid' },
  context: ({ project_id = '' }) => hookSecretContext(project_id),
});
const ofCrmToken = (column: string): EncryptedColumn => ({
  table: 'crm_token',
  column,
  key: BY_ID,
  context: ({ id = '' }) => crmTokenContext(id),
});
const ofChatWorkspace = (column: string): EncryptedColumn => ({
  table: 'chat_workspace',
  column,
  key: BY_ID,
  context: ({ id = '' }) => chatSecretContext(id),
});
const ofWebhook = (column: string): EncryptedColumn => ({
  table: 'webhook',
  column,
  key: BY_ID,
  context: ({ id = '' }) => webhookSecretContext(id),
});

/** Every encrypted column of the schema; `rotate-keys` re-encrypts these. */
export const ENCRYPTED_COLUMNS: readonly EncryptedColumn[] = [
  ofWebhook('secret'),
  ofWebhook('previous_secret'),
  ofWebhook('headers'),
  { table: 'integration', column: 'credentials', key: BY_ID, context: ({ id = '' }) => integrationSecretContext(id) },
  ofCrmToken('credential'),
  ofCrmToken('access_token'),
  ofChatWorkspace('bot_token'),
  ofChatWorkspace('app_token'),
  ofChatWorkspace('signing_secret'),
  { table: 'mock_workspace', column: 'key', key: BY_ID, context: ({ id = '' }) => mockKeyContext(id) },
  { table: 'review_instance', column: 'cli_auth_url', key: BY_ID, context: ({ id = '' }) => reviewInstanceContext(id) },
  ofHooks('secret'),
  ofHooks('previous_secret'),
  {
    table: 'user_totp',
    column: 'secret',
    key: { user_id: 'uuid' },
    context: ({ user_id = '' }) => totpContext(user_id),
  },
  {
    table: 'idempotency_key',
    column: 'reply',
    key: { tenant_id: 'uuid', subject: 'text', method: 'text', path: 'text', key: 'text' },
    context: ({ subject = '', key = '' }) => replyContext({ subject, key }),
  },
];
