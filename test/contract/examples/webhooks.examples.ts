import { featureExamples, fresh } from './example.ts';

/** Nothing is sent there: no worker runs in these tests. */
const RECEIVER = 'http://127.0.0.1:9/hook';

export const webhooksExamples = featureExamples(
  async (app) => {
    const owner = app.as(app.owner);
    const { id } = await owner.post(201, '/api/webhooks', {
      name: fresh('webhook'),
      event: fresh('event'),
      config: { url: RECEIVER },
    });
    const delivery = await owner.post(202, `/api/webhooks/${id}/deliver`, { payload: {} });
    return { webhookId: id as string, deliveryId: delivery.providerDetails.deliveryId as string };
  },
  {
    postWebhooks: () => ({ body: { name: fresh('webhook'), event: 'release.published', config: { url: RECEIVER } } }),
    getWebhooks: () => ({}),
    getWebhooksEventCatalog: () => ({}),
    getWebhooksId: ({ webhookId: id }) => ({ params: { id } }),
    patchWebhooksId: ({ webhookId: id }) => ({ params: { id }, body: { timeout: 5_000 } }),
    deleteWebhooksId: ({ webhookId: id }) => ({ params: { id } }),
    postWebhooksIdRotateSecret: ({ webhookId: id }) => ({ params: { id } }),
    postWebhooksTrigger: () => ({ body: { event: 'push', payload: { ref: 'main' } } }),
    postWebhooksIdDeliver: ({ webhookId: id }) => ({ params: { id }, body: { payload: { ref: 'main' } } }),
    postWebhooksIdTest: ({ webhookId: id }) => ({ params: { id } }),
    getWebhooksIdDeliveries: ({ webhookId: id }) => ({ params: { id } }),
    getWebhooksIdDeliveriesDeliveryIdAttempts: ({ webhookId: id, deliveryId }) => ({ params: { id, deliveryId } }),
    postWebhooksIdDeliveriesDeliveryIdRedeliver: ({ webhookId: id, deliveryId }) => ({ params: { id, deliveryId } }),
    postWebhooksIdRecover: ({ webhookId: id }) => ({ params: { id }, body: { since: '2026-01-01T00:00:00Z' } }),
  },
);
