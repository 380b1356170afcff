import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { CdpError } from '../../../activities/browser-host/chromium/browser.ts';
import { openPage, startLocalBrowser } from '../../support/local-browsers.ts';

const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`browser-${process.pid}-`));

test.each(['jailed', 'sandboxed', 'none'] as const)(
  'a %s browser answers, and leaves nothing behind',
  async (isolation) => {
    const browser = await startLocalBrowser({}, { isolation });
    expect(browser.isolation).toBe(isolation);
    const { product } = await browser.cdp.send('Browser.getVersion');
    expect(product).toMatch(/Chrom/);
    await expect(browser.cdp.send('No.such')).rejects.toThrow(CdpError);
    expect(await browser.cdp.pass({ id: 7, method: 'No.such' })).toMatchObject({ id: 7, error: { code: -32_601 } });
    const page = await openPage(browser.cdp);
    expect(await page.evaluate('6 * 7')).toBe(42);
    expect(folders()).toHaveLength(1);
    browser.kill({ reason: 'stopped', detail: null });
    browser.kill({ reason: 'expired', detail: null });
    expect(await browser.ended).toEqual({ reason: 'stopped', detail: null });
    await expect(browser.cdp.send('Browser.getVersion')).rejects.toThrow('The browser is gone');
    expect(folders()).toEqual([]);
  },
);
