/** What the app must be allowed in a workspace. */
export const BOT_SCOPES = ['chat:write', 'commands', 'users:read', 'users:read.email'] as const;

/** Events about the installation itself, for which no scope is needed. */
export const BOT_EVENTS = ['app_uninstalled', 'tokens_revoked'] as const;

/** What the platform sends of its own accord, by the last segment of its address. */
export const INBOUND_KINDS = ['commands', 'interactions', 'events'] as const;
export type InboundKind = (typeof INBOUND_KINDS)[number];

/**
 * The app of a tenant as the platform takes it (app manifest, schema version 1).
 * @param publicUrl base URL of the service, without a slash at its end.
 * @param key names the tenant in the addresses.
 */
export function appManifest(publicUrl: string, key: string) {
  const url = (kind: InboundKind) => `${publicUrl}/api/slack/inbound/${key}/${kind}`;
  return {
    _metadata: { major_version: 1, minor_version: 1 },
    display_information: {
      name: 'Quayside',
      description: 'Releases, approvals and review environments',
      background_color: '#12344d',
    },
    features: {
      bot_user: { display_name: 'Quayside', always_online: true },
      slash_commands: [
        {
          command: '/quayside',
          url: url('commands'),
          description: 'Where a work item is, what waits for you, and your review environment',
          usage_hint: 'where KEY | approvals | env extend | help',
          should_escape: false,
        },
      ],
    },
    oauth_config: { scopes: { bot: [...BOT_SCOPES] } },
    settings: {
      event_subscriptions: { request_url: url('events'), bot_events: [...BOT_EVENTS] },
      interactivity: { is_enabled: true, request_url: url('interactions') },
      org_deploy_enabled: false,
      socket_mode_enabled: false,
      token_rotation_enabled: false,
    },
  };
}
