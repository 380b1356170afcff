import { defineConfig } from 'vite';
import { compressFiles } from './build/compress-files.ts';
import { splitOperations } from './build/split-operations.ts';

/** The service that `npm run dev:console` shows. */
const service = process.env.QUAYSIDE_URL ?? 'http://127.0.0.1:3000';

export default defineConfig({
  root: import.meta.dirname,
  // Relative to the page's base, which the service says: it may be served below any path.
  base: './',
  plugins: [splitOperations(), compressFiles()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsDir: 'assets',
    assetsInlineLimit: 0,
    manifest: 'manifest.json',
    target: ['chrome125', 'firefox128', 'safari18'],
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { port: 5173, proxy: { '^/(api|openapi\\.json|docs|browser-session|review-env)': { target: service } } },
});
