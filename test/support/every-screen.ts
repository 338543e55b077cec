import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertFits, type ConsoleBrowser, consoleBrowser, goTo, seriousViolations, signInOnPage } from './browser.ts';
import { inventNetwork, type SampleScreen } from './console-sample.ts';
import { inventMessages } from './console-traffic.ts';
import { eventually } from './eventually.ts';
import { without } from './needs.ts';
import { type TestService, testService } from './service.ts';

const wide = { width: 1280, height: 800 };
/** True when no colour is on its way to another. */
const isStill = 'document.getAnimations().every((each) => !(each instanceof CSSTransition))';
const narrow = { width: 390, height: 844 };

/** Looks at every screen once: in both colours by axe, and whether it fits a narrow window. */
export function walkScreens(which: string, screensOf: (service: TestService) => SampleScreen[] | Promise<SampleScreen[]>): void {
	describe(`every screen of ${which}`, { skip: without('chromium') }, () => {
		let service: TestService;
		let browser: ConsoleBrowser;
		before(async () => {
			service = await testService();
			await inventNetwork(service);
			await inventMessages(service);
			browser = await consoleBrowser(service);
		});
		after(async () => {
			await browser[Symbol.asyncDispose]();
			await service[Symbol.asyncDispose]();
			assert.deepEqual(browser.faults, []);
		});

		test('can be read by everybody, light and dark, and fits a window of 390 pixels', async () => {
			const page = await browser.open({ colorScheme: 'light', reducedMotion: 'reduce', viewport: wide });
			await signInOnPage(service, page);
			for (const { name, path, heading, open } of await screensOf(service)) {
				await page.setViewportSize(wide);
				await goTo(page, path, heading);
				await open?.(page);
				assert.deepEqual(await seriousViolations(page), [], name);
				await page.emulateMedia({ colorScheme: 'dark' });
				// Colours of what lies inside follow those around it frame by frame.
				await eventually(() => page.evaluate<boolean>(isStill), `${name}, dark`);
				assert.deepEqual(await seriousViolations(page, ['color-contrast']), [], `${name}, dark`);
				await page.emulateMedia({ colorScheme: 'light' });
				await page.setViewportSize(narrow);
				await assertFits(page);
			}
			await page.context().close();
		});
	});
}
