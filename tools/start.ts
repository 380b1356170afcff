import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Half of a start is loading code, and what is kept compiled loads in half the time: here, in the API and in the worker.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/quayside/compiled', import.meta.url));
enableCompileCache(process.env.NODE_COMPILE_CACHE);
await import('./start-service.ts');
