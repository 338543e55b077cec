import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertFits, type ConsoleBrowser, consoleBrowser, goTo, seriousViolations, signInOnPage } from '#test/support/browser.ts';
import { inventNetwork, sampleScreens } from '#test/support/console-sample.ts';
import { inventMessages } from '#test/support/console-traffic.ts';
import { without } from '#test/support/needs.ts';
import { type TestService, testService } from '#test/support/service.ts';

describe('every screen of the console', { skip: without('chromium') }, () => {
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

	for (const colorScheme of ['light', 'dark'] as const) {
		test(`can be read by everybody, ${colorScheme}`, async () => {
			const page = await browser.open({ colorScheme, reducedMotion: 'reduce' });
			await page.goto('/');
			await page.getByLabel('E-mail').waitFor();
			assert.deepEqual(await seriousViolations(page), [], 'signing in');
			await signInOnPage(service, page);
			for (const { name, path, heading, open } of await sampleScreens(service)) {
				await goTo(page, path, heading);
				await open?.(page);
				assert.deepEqual(await seriousViolations(page), [], name);
			}
			await page.context().close();
		});
	}

	test('fits a window of 390 pixels', async () => {
		const page = await browser.open({ viewport: { width: 390, height: 844 } });
		await signInOnPage(service, page);
		for (const { path, heading, open } of await sampleScreens(service)) {
			await goTo(page, path, heading);
			await open?.(page);
			await assertFits(page);
		}
		await goTo(page, '/overview', 'Overview');
		await page.getByRole('button', { name: 'Menu', exact: true }).click();
		await page.getByRole('link', { name: 'Sites' }).click();
		await page.getByRole('heading', { level: 1, name: 'Sites' }).waitFor();
		await page.context().close();
	});
});
