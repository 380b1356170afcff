import { running } from './global-setup.ts';

export default () => running.stop();
