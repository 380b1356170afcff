import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Pages by their path, for a browser; others are 404. */
export async function servePages(pages: Record<string, string>): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer(({ url = '/' }, response) => {
    const page = pages[new URL(url, 'http://host').pathname];
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(page ?? 'There is no such page');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A page that changes 60 times a second, as far as the processor lets it. */
export const ANIMATED_PAGE = `<!doctype html><title>Animated</title><body style="margin:0"><canvas id="c" width="1280" height="720">
</canvas><script>
const draw = c.getContext('2d');
function frame(t) {
  draw.fillStyle = 'hsl(' + (t / 10) % 360 + ' 80% 60%)';
  for (let i = 0; i < 40; i++) draw.fillRect(Math.random() * 1280, Math.random() * 720, 80, 80);
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
</script>`;
