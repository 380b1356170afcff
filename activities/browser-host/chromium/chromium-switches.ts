import type { Viewport } from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import type { Isolation } from '../../../domain/kernel/settings/isolation-rules.ts';

/** Off: what asks other hosts by itself, and what shows dialogs of the browser's own. */
const FEATURES_OFF = [
  'AutofillServerCommunication',
  'CertificateTransparencyComponentUpdater',
  'DialMediaRouteProvider',
  'GlobalMediaControls',
  'HttpsUpgrades',
  'InterestFeedContentSuggestions',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PreloadTopChromeWebUI',
  'Translate',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
];

/**
 * @param proxy address of the one way out, `host:port`; null: the browser has none.
 * @param profile folder that it may write.
 */
export function chromiumSwitches({
  viewport: { width, height },
  isolation,
  proxy,
  profile,
}: {
  viewport: Viewport;
  isolation: Isolation;
  proxy: string | null;
  profile: string;
}): string[] {
  return [
    '--headless=new',
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    `--window-size=${width},${height}`,
    `--screen-info={${width}x${height}}`,
    '--no-first-run',
    '--no-default-browser-check',
    '--no-pings',
    '--no-service-autorun',
    '--mute-audio',
    '--disable-gpu',
    // Automation waits for ever for a page that comes back from it.
    '--disable-back-forward-cache',
    '--disable-background-networking',
    '--disable-breakpad',
    '--disable-client-side-phishing-detection',
    '--disable-component-extensions-with-background-pages',
    '--disable-component-update',
    '--disable-crash-reporter',
    '--disable-default-apps',
    '--disable-domain-reliability',
    '--disable-extensions',
    '--disable-field-trial-config',
    '--disable-notifications',
    '--disable-quic',
    '--disable-search-engine-choice-screen',
    '--disable-sync',
    `--disable-features=${FEATURES_OFF.join(',')}`,
    // A tab that nobody looks at is recorded all the same.
    '--disable-background-timer-throttling',
    '--disable-backgrounding-occluded-windows',
    '--disable-renderer-backgrounding',
    '--disk-cache-size=104857600',
    '--password-store=basic',
    '--use-mock-keychain',
    // Not the switch with `force` before it: by that one WebRTC still sent UDP.
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    ...(proxy === null ? [] : [`--proxy-server=http://${proxy}`, '--proxy-bypass-list=<-loopback>']),
    ...(isolation === 'none' ? ['--no-sandbox'] : []),
    '--log-level=3',
    'about:blank',
  ];
}
