// Jest compiles a setup in TypeScript to CommonJS; from here Node itself loads it.
export { startServers as default } from './global-setup.ts';
