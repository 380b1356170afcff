import { z } from 'zod';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { definePublicRoute } from '../../http/define-route.ts';
import { fileReply, RawReply } from '../../http/replies.ts';

export const downloadsRoutes = [
  definePublicRoute({
    operationId: 'downloadFile',
    method: 'get',
    path: '/api/downloads',
    group: 'Downloads',
    summary: 'Download a file by a signed link',
    description: 'The link is the credential: it is valid for one file and 15 minutes.',
    query: z.strictObject({ token: z.string().min(1).max(4_000) }),
    status: 200,
    response: z.instanceof(RawReply),
    contentTypes: ['*/*'],
    errors: ['forbidden'],
    async handle({ query: { token } }, { adapters, now }) {
      const opened = await adapters.objects.downloads.open(token, now());
      if (!opened) throw new DomainError('forbidden', 'The link is invalid or has expired');
      return fileReply(opened.contentType, await adapters.objects.store.get(opened.key), opened.fileName);
    },
  }),
];
