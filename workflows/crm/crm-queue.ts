/** Of everything that calls CRM orgs. */
export const CRM_QUEUE = 'crm-v1';
