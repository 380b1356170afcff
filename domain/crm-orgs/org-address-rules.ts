/** Path of the front door of an org, behind the service's base URL. */
export const orgAddress = (username: string): string =>
  `/api/auth/crm/frontdoor?${new URLSearchParams({ target: username })}`;
