const KEY = 'quayside.loaded-again';
const ONCE_MS = 30_000;

/**
 * A part of a page that cannot be loaded any more is usually one of an older version: the page is loaded again, once; after
 * that the failure is shown.
 */
export function loadAgainOnce(): void {
  addEventListener('vite:preloadError', (event) => {
    const last = Number(sessionStorage.getItem(KEY) ?? 0);
    if (Date.now() - last < ONCE_MS) return;
    sessionStorage.setItem(KEY, String(Date.now()));
    event.preventDefault();
    location.reload();
  });
}
