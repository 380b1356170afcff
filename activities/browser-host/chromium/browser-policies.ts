/**
 * Managed policies of Chromium (chromeenterprise.google/policies): pages of http and https alone, nothing of this machine, no
 * account, nothing that is kept. They hold whatever asks: the page, the protocol, a key.
 * @param proxy address of the one way out, `host:port`.
 */
export const browserPolicies = (proxy: string): Record<string, unknown> => ({
  ProxySettings: { ProxyMode: 'fixed_servers', ProxyServer: `http://${proxy}`, ProxyBypassList: '<-loopback>' },
  // The standard of 32 holds up pages that wait on open connections.
  MaxConnectionsPerProxy: 99,
  QuicAllowed: false,
  DnsOverHttpsMode: 'off',
  BuiltInDnsClientEnabled: false,
  NetworkPredictionOptions: 2,
  WebRtcIPHandling: 'disable_non_proxied_udp',
  HttpsUpgradesEnabled: false,

  // The star stands for all, those of later versions included, but for the browser's own.
  URLBlocklist: ['*', 'chrome://*', 'chrome-untrusted://*', 'chrome-extension://*', 'devtools://*', 'view-source:*'],
  URLAllowlist: ['http://*', 'https://*', 'about:blank', 'blob:*', 'data:*'],
  DownloadRestrictions: 3,
  AllowFileSelectionDialogs: false,
  PrintingEnabled: false,

  ExtensionInstallBlocklist: ['*'],
  SyncDisabled: true,
  BrowserSignin: 0,
  PasswordManagerEnabled: false,
  AutofillAddressEnabled: false,
  AutofillCreditCardEnabled: false,
  TranslateEnabled: false,
  SpellCheckServiceEnabled: false,
  SearchSuggestEnabled: false,
  AlternateErrorPagesEnabled: false,
  EnableMediaRouter: false,
  BackgroundModeEnabled: false,
  ComponentUpdatesEnabled: false,
  MetricsReportingEnabled: false,
  UrlKeyedAnonymizedDataCollectionEnabled: false,
  DomainReliabilityAllowed: false,
  SafeBrowsingProtectionLevel: 0,
  GenAiDefaultSettings: 2,
  RestoreOnStartup: 5,
  DefaultBrowserSettingEnabled: false,

  AudioCaptureAllowed: false,
  VideoCaptureAllowed: false,
  ScreenCaptureAllowed: false,
  DefaultGeolocationSetting: 2,
  DefaultNotificationsSetting: 2,
  DefaultSensorsSetting: 2,
  DefaultSerialGuardSetting: 2,
  DefaultWebBluetoothGuardSetting: 2,
  DefaultWebHidGuardSetting: 2,
  DefaultWebUsbGuardSetting: 2,
  DefaultFileSystemReadGuardSetting: 2,
  DefaultFileSystemWriteGuardSetting: 2,
});
