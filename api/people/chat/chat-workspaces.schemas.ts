import { z } from 'zod';
import { JsonObject, NAME_MAX, Timestamp, WITHOUT_CONTROLS } from '../../http/parameters.ts';

export const TeamId = z
  .string()
  .max(40)
  .regex(/^[TE][A-Z0-9]+$/, 'must be the id of a workspace, such as T0123ABCD')
  .meta({ description: 'Id of the workspace', example: 'T0123ABCD' });

const PlainName = z.string().trim().min(1).max(NAME_MAX).regex(WITHOUT_CONTROLS, 'must not contain control characters');

const fields = {
  team_name: PlainName,
  bot_token: z
    .string()
    .max(500)
    .regex(/^xoxb-[A-Za-z0-9-]+$/, 'must be a bot token: xoxb-…')
    .meta({ description: 'Stored encrypted and never returned' }),
  app_token: z
    .string()
    .max(500)
    .regex(/^xapp-[A-Za-z0-9-]+$/, 'must be an app token: xapp-…')
    .nullable()
    .meta({ description: 'Stored encrypted and never returned; only `/test` uses it' }),
  signing_secret: z
    .string()
    .regex(/^[A-Za-z0-9]{16,128}$/, "must be the app's signing secret: letters and digits")
    .meta({ description: 'Stored encrypted and never returned' }),
  app_id: z
    .string()
    .max(40)
    .regex(/^A[A-Z0-9]+$/, 'must be the id of an app, such as A0123ABCD')
    .nullable()
    .meta({ description: 'Where absent, `/test` finds it out' }),
  app_name: PlainName.nullable().meta({ description: 'Where absent, `/test` finds it out' }),
  bot_user_id: z
    .string()
    .max(40)
    .regex(/^[UW][A-Z0-9]+$/, 'must be the id of a user, such as U0123ABCD')
    .nullable()
    .meta({ description: 'Where absent, `/test` finds it out' }),
};

export const WorkspaceIn = z
  .strictObject({
    team_id: TeamId,
    team_name: fields.team_name.optional().meta({ description: 'Default: the id of the workspace' }),
    bot_token: fields.bot_token,
    app_token: fields.app_token.default(null),
    signing_secret: fields.signing_secret,
    app_id: fields.app_id.default(null),
    app_name: fields.app_name.default(null),
    bot_user_id: fields.bot_user_id.default(null),
  })
  .meta({ id: 'ChatWorkspaceIn' });

export const WorkspacePatch = z
  .strictObject({
    team_id: TeamId.meta({ description: 'Names the workspace; needed where there are several' }),
    ...fields,
    is_active: z.boolean(),
  })
  .partial()
  .meta({ id: 'ChatWorkspacePatch' });

export const Workspace = z
  .object({
    id: z.uuid(),
    team_id: z.string(),
    team_name: z.string(),
    app_id: z.string().nullable(),
    app_name: z.string().nullable(),
    bot_user_id: z.string().nullable(),
    is_active: z
      .boolean()
      .meta({ description: 'False once the app was removed from the workspace, or its tokens were revoked' }),
    created_at: Timestamp,
    updated_at: Timestamp,
    created_by: z.string(),
    has_bot_token: z.boolean(),
    has_app_token: z.boolean(),
    has_signing_secret: z.boolean(),
  })
  .meta({ id: 'ChatWorkspace' });

const named = z.object({ id: z.uuid(), team_id: z.string(), team_name: z.string() });

export const WorkspaceSaved = z.object({ success: z.boolean(), workspace: named }).meta({ id: 'ChatWorkspaceSaved' });

export const WorkspaceChanged = z
  .object({ success: z.boolean(), workspace: Workspace })
  .meta({ id: 'ChatWorkspaceChanged' });

export const WorkspaceDeleted = z
  .object({ success: z.boolean(), message: z.string() })
  .meta({ id: 'ChatWorkspaceDeleted' });

export const WorkspaceTest = z
  .object({
    success: z.boolean(),
    message: z.string(),
    details: z
      .object({ workspace_name: z.string(), bot_name: z.string(), bot_id: z.string() })
      .nullable()
      .meta({ description: 'As Slack answers; null where it did not' }),
    error: z.string().nullable().meta({ description: 'What is wrong; null on success' }),
  })
  .meta({ id: 'ChatWorkspaceTest' });

export const AppManifest = JsonObject.meta({
  id: 'ChatAppManifest',
  description: 'To be pasted where Slack creates an app from a manifest',
});
