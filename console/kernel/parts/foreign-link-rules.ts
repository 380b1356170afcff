/** Whether an address that somebody wrote is one of a site: others, such as `javascript:`, are no links. */
export function isWebAddress(address: string | null | undefined): address is string {
  if (!address || !URL.canParse(address)) return false;
  return ['http:', 'https:'].includes(new URL(address).protocol);
}
