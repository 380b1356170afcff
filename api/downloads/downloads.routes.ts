import { z } from 'zod';
import { DomainError } from '../../domain/shared/errors.ts';
import { definePublicRoute } from '../http/define-route.ts';
import { fileReply, RawReply } from '../http/replies.ts';

export const downloadsRoutes = [
  definePublicRoute({
    operationId: 'downloadFile',
    method: 'get',
    path: '/api/downloads',
    group: 'Downloads',
    summary: 'Fetch a file by a link that the service gave out',
    description: 'The link is the credential: it opens one object for a quarter of an hour.',
    query: z.strictObject({ token: z.string().min(1).max(4_000) }),
    status: 200,
    response: z.instanceof(RawReply),
    contentType: 'application/octet-stream',
    async handle({ query: { token } }, { adapters, now }) {
      const opened = await adapters.objects.downloads.open(token, now());
      if (!opened) throw new DomainError('forbidden', 'The link is not one of this service, or its time is over');
      return fileReply(opened.contentType, await adapters.objects.store.get(opened.key), opened.fileName);
    },
  }),
];
