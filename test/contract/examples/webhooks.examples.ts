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
    createWebhook: () => ({ body: { name: fresh('webhook'), event: 'release.published', config: { url: RECEIVER } } }),
    listWebhooks: () => ({}),
    getEventCatalog: () => ({}),
    getWebhook: ({ webhookId: id }) => ({ params: { id } }),
    updateWebhook: ({ webhookId: id }) => ({ params: { id }, body: { timeout: 5_000 } }),
    deleteWebhook: ({ webhookId: id }) => ({ params: { id } }),
    rotateWebhookSecret: ({ webhookId: id }) => ({ params: { id } }),
    triggerWebhooks: () => ({ body: { event: 'push', payload: { ref: 'main' } } }),
    deliverToWebhook: ({ webhookId: id }) => ({ params: { id }, body: { payload: { ref: 'main' } } }),
    testWebhook: ({ webhookId: id }) => ({ params: { id } }),
    previewWebhook: () => ({
      body: { event: 'release.published', config: { body: '{"text": {{ data.releaseName | json }}}' } },
    }),
    listDeliveriesOfAllWebhooks: () => ({}),
    listWebhookDeliveries: ({ webhookId: id }) => ({ params: { id } }),
    listWebhookDeliveryAttempts: ({ webhookId: id, deliveryId }) => ({ params: { id, deliveryId } }),
    redeliverWebhookDelivery: ({ webhookId: id, deliveryId }) => ({ params: { id, deliveryId } }),
    recoverWebhookDeliveries: ({ webhookId: id }) => ({ params: { id }, body: { since: '2026-01-01T00:00:00Z' } }),
  },
);
