import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { assertFits, type ConsoleBrowser, consoleBrowser, goTo, signInOnPage } from '#test/support/browser.ts';
import { inventNetwork, sampleScreens } from '#test/support/console-sample.ts';
import { inventMessages } from '#test/support/console-traffic.ts';
import { without } from '#test/support/needs.ts';
import { type TestService, testService } from '#test/support/service.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What a screen reader or somebody who sees little would stumble over. */
async function seriousViolations(page: Page): Promise<string[]> {
	await page.evaluate(axe);
	const { violations } = (await page.evaluate('axe.run()')) as AxeResults;
	return violations
		.filter(({ impact }) => impact === 'serious' || impact === 'critical')
		.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`);
}

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
		await goTo(page, '/', 'Overview');
		await page.getByRole('button', { name: 'Menu', exact: true }).click();
		await page.getByRole('link', { name: 'Sites' }).click();
		await page.getByRole('heading', { level: 1, name: 'Sites' }).waitFor();
		await page.context().close();
	});
});
