/** Whether an address that somebody wrote is one of a site: others, such as `javascript:`, are no links. */
export function isWebAddress(address: string | null | undefined): address is string {
  return typeof address === 'string' && /^https?:\/\//i.test(address) && URL.canParse(address);
}
