import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type ConsoleBrowser, consoleBrowser, goTo, seriousViolations, signInOnPage } from '#test/support/browser.ts';
import { recordScreens } from '#test/support/console-sample.ts';
import { walkScreens } from '#test/support/every-screen.ts';
import { without } from '#test/support/needs.ts';
import { type TestService, testService } from '#test/support/service.ts';

walkScreens('traffic and records', recordScreens);

describe('the frame of the console', { skip: without('chromium') }, () => {
	let service: TestService;
	let browser: ConsoleBrowser;
	before(async () => {
		service = await testService();
		browser = await consoleBrowser(service);
	});
	after(async () => {
		await browser[Symbol.asyncDispose]();
		await service[Symbol.asyncDispose]();
		assert.deepEqual(browser.faults, []);
	});

	test('asks who signs in, and has its menu behind a button in a narrow window', async () => {
		const page = await browser.open({ viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' });
		await page.goto('/');
		await page.getByLabel('E-mail').waitFor();
		assert.deepEqual(await seriousViolations(page), []);
		await signInOnPage(service, page);
		await goTo(page, '/overview', 'Overview');
		await page.getByRole('button', { name: 'Menu', exact: true }).click();
		await page.getByRole('link', { name: 'Sites' }).click();
		await page.getByRole('heading', { level: 1, name: 'Sites' }).waitFor();
		await page.context().close();
	});
});
