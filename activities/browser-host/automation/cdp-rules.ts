/** Members of a message's `params` or `result`. */
export type Members = Record<string, unknown>;

/**
 * What is done with a command of a client.
 * - `pass`: the browser gets it, with these params
 * - `answer`: it is answered with these members, and the browser never sees it
 * - `refuse`: it is answered with an error
 */
export type Verdict =
  | { kind: 'pass'; params: Members }
  | { kind: 'answer'; result: Members }
  | { kind: 'refuse'; why: string };

/**
 * Methods that clients may call: what drives pages. Not among them are those that end the browser, reach files, read or
 * write cookies and stores, keep requests back, make contexts of their own, or record the browser itself.
 */
const ALLOWED: Record<string, string> = {
  Accessibility:
    'disable enable getAXNodeAndAncestors getChildAXNodes getFullAXTree getPartialAXTree getRootAXNode queryAXTree',
  Browser: 'getVersion getWindowBounds getWindowForTarget',
  Console: 'clearMessages disable enable',
  DOM: 'collectClassNamesFromSubtree copyTo describeNode disable discardSearchResults enable focus getAttributes getBoxModel getContainerForNode getContentQuads getDocument getFrameOwner getNodeForLocation getOuterHTML getSearchResults getTopLayerElements hideHighlight highlightNode moveTo performSearch pushNodeByPathToFrontend pushNodesByBackendIdsToFrontend querySelector querySelectorAll removeAttribute removeNode requestChildNodes requestNode resolveNode scrollIntoViewIfNeeded setAttributeValue setAttributesAsText setInspectedNode setNodeName setNodeValue setOuterHTML',
  DOMSnapshot: 'captureSnapshot disable enable',
  Emulation:
    'canEmulate clearDeviceMetricsOverride clearGeolocationOverride clearIdleOverride setAutoDarkModeOverride setCPUThrottlingRate setDefaultBackgroundColorOverride setDeviceMetricsOverride setEmitTouchEventsForMouse setEmulatedMedia setEmulatedVisionDeficiency setFocusEmulationEnabled setGeolocationOverride setHardwareConcurrencyOverride setIdleOverride setLocaleOverride setScriptExecutionDisabled setScrollbarsHidden setTimezoneOverride setTouchEmulationEnabled setUserAgentOverride',
  Input:
    'cancelDragging dispatchDragEvent dispatchKeyEvent dispatchMouseEvent dispatchTouchEvent emulateTouchFromMouseEvent imeSetComposition insertText setInterceptDrags',
  Inspector: 'disable enable',
  Log: 'clear disable enable startViolationsReport stopViolationsReport',
  Network:
    'clearAcceptedEncodingsOverride disable emulateNetworkConditions enable getRequestPostData getResponseBody setBypassServiceWorker setCacheDisabled setExtraHTTPHeaders setUserAgentOverride',
  Page: 'addScriptToEvaluateOnNewDocument bringToFront captureScreenshot captureSnapshot close createIsolatedWorld disable enable getFrameTree getLayoutMetrics getNavigationHistory handleJavaScriptDialog navigate navigateToHistoryEntry printToPDF reload removeScriptToEvaluateOnNewDocument resetNavigationHistory setBypassCSP setDocumentContent setFontFamilies setFontSizes setInterceptFileChooserDialog setLifecycleEventsEnabled setWebLifecycleState stopLoading waitForDebugger',
  Performance: 'disable enable getMetrics',
  Runtime:
    'addBinding awaitPromise callFunctionOn compileScript disable discardConsoleEntries enable evaluate getExceptionDetails getHeapUsage getIsolateId getProperties globalLexicalScopeNames queryObjects releaseObject releaseObjectGroup removeBinding runIfWaitingForDebugger runScript setAsyncCallStackDepth setCustomObjectFormatterEnabled setMaxCallStackSizeToCapture terminateExecution',
  ServiceWorker: 'disable enable',
  Target:
    'activateTarget attachToTarget autoAttachRelated closeTarget createTarget detachFromTarget getTargetInfo getTargets setAutoAttach setDiscoverTargets',
};
const METHODS = new Set(
  Object.entries(ALLOWED).flatMap(([domain, names]) => names.split(' ').map((name) => `${domain}.${name}`)),
);

/** Clients call these whatever they are used for, and end when they are refused; they have no effect here. */
const ANSWERED: Record<string, Members> = {
  'Audits.disable': {},
  'Audits.enable': {},
  'Browser.setDownloadBehavior': {},
  'Browser.setWindowBounds': {},
  'Page.setDownloadBehavior': {},
  'Security.setIgnoreCertificateErrors': {},
  'Target.getBrowserContexts': { browserContextIds: [] },
  'Target.setRemoteLocations': {},
};

/** Tabs that a browser may have. */
const TABS_MAX = 10;
const SIDE_MAX = 4_096;
const SCALE_MAX = 4;

/** What is known of the browser when a command is decided on. */
export interface Surroundings {
  /** Open tabs. */
  tabs: number;
  /** Whether the client attached a session of the protocol. */
  owns: (sessionId: string) => boolean;
}

const pass = (params: Members): Verdict => ({ kind: 'pass', params });
const refuse = (why: string): Verdict => ({ kind: 'refuse', why });

/** Params that some methods must not have, or must have. */
const CHECKS: Record<string, (params: Members, around: Surroundings) => Verdict> = {
  'Page.navigate': (params) => (isWebAddress(params.url) ? pass(params) : refuse(ADDRESSES)),
  'Target.createTarget'({ url, background, width, height }, { tabs }) {
    if (!isWebAddress(url)) return refuse(ADDRESSES);
    if (tabs >= TABS_MAX) return refuse(`The browser has ${tabs} tabs already`);
    if (!isSide(width) || !isSide(height)) return refuse(`width and height are at most ${SIDE_MAX}`);
    return pass({ url, ...(background !== undefined && { background }) });
  },
  'Target.attachToTarget': (params) => (params.flatten === true ? pass(params) : refuse(FLAT)),
  'Target.setAutoAttach': (params) =>
    params.autoAttach === false || params.flatten === true ? pass(params) : refuse(FLAT),
  'Target.detachFromTarget': (params, { owns }) =>
    typeof params.sessionId === 'string' && owns(params.sessionId)
      ? pass({ sessionId: params.sessionId })
      : refuse('No session of this client has that id'),
  'Input.dispatchDragEvent'(params) {
    const data = draggedTexts(params.data);
    return data ? pass({ ...params, data }) : refuse('What is dragged is texts and web addresses');
  },
  // A world of its own in the page, with the rights of the page.
  'Page.createIsolatedWorld': ({ grantUniveralAccess: _, ...params }) => pass(params),
  'Page.printToPDF': (params) =>
    params.transferMode === 'ReturnAsStream' ? refuse('Streams are not passed on') : pass(params),
  'Emulation.setDeviceMetricsOverride'(params) {
    const { width, height, deviceScaleFactor, screenWidth, screenHeight } = params;
    const isSmall = [width, height, screenWidth, screenHeight].every(isSide);
    const isCoarse = deviceScaleFactor === undefined || isNumber(deviceScaleFactor, SCALE_MAX);
    return isSmall && isCoarse ? pass(params) : refuse(`Sides are at most ${SIDE_MAX}, the scale ${SCALE_MAX}`);
  },
  // Buffers of the sizes that the browser chooses.
  'Network.enable': () => pass({}),
};

const ADDRESSES = 'Only http, https and about:blank addresses are opened';
const FLAT = 'Sessions are attached with flatten: true';

const isNumber = (value: unknown, max: number): boolean => typeof value === 'number' && value >= 0 && value <= max;
const isSide = (value: unknown): boolean => value === undefined || isNumber(value, SIDE_MAX);

/** Whether a tab may be sent to an address; where that leads is for the way out of the browser to allow. */
function isWebAddress(url: unknown): boolean {
  if (url === 'about:blank' || url === '') return true;
  return typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/** What is dragged without its files, which the browser would read wherever they lie; undefined: it is none, or leads to one. */
function draggedTexts(data: unknown): Members | undefined {
  if (!isMembers(data) || !Array.isArray(data.items) || !data.items.every(isMembers)) return undefined;
  const links = data.items.filter(({ mimeType }) => String(mimeType).toLowerCase() === 'text/uri-list');
  if (
    !links.every(({ data: list }) =>
      String(list)
        .split(/[\r\n]+/)
        .every(isWebAddress),
    )
  )
    return undefined;
  return { items: data.items, dragOperationsMask: data.dragOperationsMask };
}

/** Decides on a command of a client. */
export function judge(method: string, params: Members, around: Surroundings): Verdict {
  const result = Object.hasOwn(ANSWERED, method) ? ANSWERED[method] : undefined;
  if (result) return { kind: 'answer', result };
  if (!METHODS.has(method)) return refuse(`${method} is not available in a browser session`);
  const check = Object.hasOwn(CHECKS, method) ? CHECKS[method] : undefined;
  return check?.(params, around) ?? pass(params);
}

const DOMAINS = new Set(Object.keys(ALLOWED));
/** They hold the cookies of the org's session as they go over the line. */
const WITHHELD = new Set(['Network.requestWillBeSentExtraInfo', 'Network.responseReceivedExtraInfo']);

/** Whether clients get an event. */
export const isShown = (event: string): boolean =>
  DOMAINS.has(event.slice(0, event.indexOf('.'))) && !WITHHELD.has(event);

const CREDENTIAL_HEADERS = /^(?:cookie|set-cookie|authorization|proxy-authorization)2?$/i;
const HEADER_MEMBERS = new Set(['headers', 'requestHeaders', 'responseHeaders']);
const HEADER_TEXTS = new Set(['headersText', 'requestHeadersText']);
const DEPTH_MAX = 4;

/** The params of an event of the network without headers that hold credentials. */
export const withoutCredentials = (event: string, params: Members): Members =>
  event.startsWith('Network.') ? withoutHeaders(params, DEPTH_MAX) : params;

function withoutHeaders(members: Members, depth: number): Members {
  const kept: Members = {};
  for (const [name, value] of Object.entries(members)) {
    if (HEADER_TEXTS.has(name)) continue;
    if (HEADER_MEMBERS.has(name)) kept[name] = plainHeaders(value);
    else kept[name] = depth > 0 && isMembers(value) ? withoutHeaders(value, depth - 1) : value;
  }
  return kept;
}

const plainHeaders = (headers: unknown): unknown =>
  isMembers(headers)
    ? Object.fromEntries(Object.entries(headers).filter(([name]) => !CREDENTIAL_HEADERS.test(name)))
    : headers;

export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The result of a method as clients see it: the history leads through the front door, whose address is a credential. */
export function shownResult(method: string | undefined, result: Members): Members {
  if (method !== 'Page.getNavigationHistory' || !Array.isArray(result.entries)) return result;
  const entries = result.entries.filter(isMembers).map((entry) => ({
    ...entry,
    ...(isFrontDoor(entry.url) && { url: 'about:blank' }),
    ...(isFrontDoor(entry.userTypedURL) && { userTypedURL: 'about:blank' }),
  }));
  return { ...result, entries };
}

/** Whether an address, or a title that is one, is that of a front door, which holds a credential. */
export const isFrontDoor = (url: unknown): boolean =>
  typeof url === 'string' && /frontdoor|[?&]sid=|[?&]otp=/i.test(url);
