import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, consoleBrowser, goTo, signInOnPage } from '#test/support/browser.ts';
import { inventNetwork, sampleProfiles } from '#test/support/console-sample.ts';
import { without } from '#test/support/needs.ts';
import { type TestService, testService } from '#test/support/service.ts';

const focused = (page: Page) => page.evaluate('document.activeElement.textContent || document.activeElement.getAttribute("aria-label")');

describe('the console in use', { skip: without('chromium') }, () => {
	let service: TestService;
	let browser: ConsoleBrowser;
	before(async () => {
		service = await testService();
		await inventNetwork(service);
		browser = await consoleBrowser(service);
	});
	after(async () => {
		await browser[Symbol.asyncDispose]();
		await service[Symbol.asyncDispose]();
		assert.deepEqual(browser.faults, []);
	});

	test('is reached and left by the keyboard alone', async () => {
		const page = await browser.open();
		await signInOnPage(service, page);
		await goTo(page, '/overview', 'Overview');
		await page.keyboard.press('Tab');
		assert.equal(await focused(page), 'Skip to content');
		await page.keyboard.press('Enter');
		assert.equal(await page.evaluate('document.activeElement.id'), 'main');
		await page.keyboard.press('g');
		await page.keyboard.press('s');
		await page.getByRole('heading', { level: 1, name: 'Sites' }).waitFor();
		assert.equal(await focused(page), 'Sites', 'the heading has the focus');
		await page.getByRole('link', { name: 'North Hospital' }).waitFor();
		await page.keyboard.press('j');
		assert.equal(await focused(page), 'Harbour Imaging Centre');
		await page.keyboard.press('j');
		await page.keyboard.press('j');
		await page.keyboard.press('k');
		await page.keyboard.press('Enter');
		await page.getByRole('heading', { level: 1, name: 'North Hospital' }).waitFor();
		await page.keyboard.press('g');
		await page.keyboard.press('c');
		await page.getByRole('link', { name: 'CT scanner' }).waitFor();
		await page.keyboard.press('/');
		await page.keyboard.type('192.0.2.40');
		await page.getByText('1 client', { exact: true }).first().waitFor();
		await page.keyboard.press('Escape');
		await page.keyboard.press('?');
		await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
		await page.keyboard.press('Escape');
		await page.getByRole('dialog').waitFor({ state: 'detached' });
		await page.context().close();
	});

	test('follows live figures, and finds the way back after a break', async () => {
		const page = await browser.open();
		await page.route('**/api/v1/overview/live', (route) => route.abort());
		await signInOnPage(service, page);
		await goTo(page, '/overview', 'Overview');
		await page.getByText('Connection lost, reconnecting').waitFor();
		await page.unroute('**/api/v1/overview/live');
		await page.getByText('Live', { exact: true }).waitFor();
		await page.getByRole('img', { name: /^Messages received per second, all nodes, \d\d:\d\d to \d\d:\d\d: now / }).waitFor();
		await service.rows('delete from admin_session');
		// The stream ends with the session, and nothing that the page does by itself keeps it.
		await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
		await page.context().close();
	});

	test('gives the audit trail as a file, by its filters', async () => {
		const page = await browser.open();
		await signInOnPage(service, page);
		await goTo(page, '/audit', 'Audit');
		await page.getByLabel('Actions on').selectOption('site');
		await page
			.getByText(/^\d+ events?$/)
			.first()
			.waitFor();
		const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Export CSV' }).click()]);
		assert.equal(download.suggestedFilename(), 'audit.csv');
		const text = readFileSync(await download.path(), 'utf8');
		assert.match(text, /"site\.disable","valley"/);
		assert.doesNotMatch(text, /"key\.create"/);
		await page.context().close();
	});

	test('shows each role what it may see and do', async () => {
		const page = await browser.open();
		await signInOnPage(service, page, 'ben.ode@example.org');
		await goTo(page, '/sites', 'Sites');
		await page.getByText('2 sites').first().waitFor();
		assert.equal(await page.getByRole('link', { name: 'Valley Clinic' }).count(), 0, 'a manager sees the own sites');
		assert.equal(await page.getByRole('link', { name: 'Users' }).count(), 0);
		assert.equal(await page.getByRole('button', { name: 'New site' }).count(), 0);
		await goTo(page, '/messages', 'Messages');
		await page.getByRole('link', { name: 'Unmatched traffic' }).click();
		await page.getByRole('heading', { level: 1, name: 'Unmatched traffic' }).waitFor();
		await goTo(page, '/sites/valley', 'valley');
		await page
			.getByRole('alert')
			.getByText(/there is no site/i)
			.waitFor();
		await goTo(page, '/users', 'Users');
		await page.getByText('Not permitted').waitFor();
		await page.context().close();
		const other = await browser.open();
		await signInOnPage(service, other, 'audit@example.org');
		for (const [path, heading] of [
			['/sites', 'Sites'],
			['/keys', 'API keys'],
			['/clients', 'Integration clients'],
			['/issuers', 'Token issuers'],
			['/profiles', 'Profiles'],
			['/remote-aes', 'Remote AEs'],
		] as const) {
			await goTo(other, path, heading);
			assert.equal(
				await other.getByRole('button', { name: /^New|^Load\b|Revoke|Remove/ }).count(),
				0,
				`an auditor changes nothing at ${path}`,
			);
		}
		await goTo(other, '/sites/north', 'North Hospital');
		assert.ok(await other.getByLabel('Name', { exact: true }).isDisabled());
		await other.context().close();
	});

	test('loads profiles from a file and removes them, by the keyboard', async () => {
		const page = await browser.open();
		await signInOnPage(service, page);
		await goTo(page, '/overview', 'Overview');
		await page.keyboard.press('g');
		await page.keyboard.press('l');
		await page.getByRole('heading', { level: 1, name: 'Profiles' }).waitFor();
		await page.getByText('2 definitions', { exact: true }).first().waitFor();
		await goTo(page, '/profiles?site=harbour', 'Profiles');
		await page.getByText('No profiles loaded yet').waitFor();
		await page.getByText(/The policy of the site harbour .* is Warn: it is stored\./).waitFor();
		const load = async (name: string, buffer: Buffer) => {
			await page.getByRole('button', { name: 'Load profiles' }).first().press('Enter');
			await page.getByRole('dialog', { name: 'Load profiles' }).waitFor();
			assert.equal(await page.getByLabel('Site').last().inputValue(), 'harbour');
			await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/octet-stream', buffer });
			await page.getByRole('button', { name: 'Load', exact: true }).press('Enter');
		};
		await load('nothing.json', Buffer.from('{"resourceType":"Patient"}'));
		await page.locator('[data-field="file"].invalid .error').waitFor();
		await page.keyboard.press('Escape');
		await load('package.tgz', sampleProfiles());
		await page.getByText('2 definitions are loaded for harbour from example.fhir.profiles#1.0.0.').waitFor();
		await page.getByRole('row', { name: /WardPatient/ }).waitFor();
		await page.getByRole('button', { name: 'Remove…' }).first().press('Enter');
		await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).press('Enter');
		await page.getByText('The definition is removed.').waitFor();
		await page.getByText('1 definition', { exact: true }).first().waitFor();
		await page.getByRole('button', { name: 'Remove…' }).press('Enter');
		await page.getByLabel('Remove all definitions of the package').press('Space');
		await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).press('Enter');
		await page.getByText('No profiles loaded yet').waitFor();
		await page.context().close();
	});

	test('of a locked account says when to try again', async () => {
		const page = await browser.open();
		await page.goto('/');
		await page.getByLabel('E-mail').fill('nobody@example.org');
		const wait = page.getByRole('button', { name: /Try again in \d+ s/ });
		for (let time = 0; time < 8 && (await wait.count()) === 0; time++) {
			await page.getByLabel('Password').fill(`wrong ${time}`);
			await page.getByRole('button', { name: 'Sign in' }).click();
			await page.getByRole('alert').locator('p').first().waitFor();
			await page
				.getByRole('button', { name: /Sign in|Try again/ })
				.and(page.locator(':not([aria-busy])'))
				.waitFor();
		}
		await wait.waitFor();
		await page.context().close();
	});

	test('costs few requests and few bytes on the first visit', async () => {
		const page = await browser.open();
		let [requests, bytes] = [0, 0];
		page.on('requestfinished', async (request) => {
			requests++;
			const { responseBodySize, responseHeadersSize } = await request.sizes();
			bytes += responseBodySize + responseHeadersSize;
		});
		await page.goto('/', { waitUntil: 'networkidle' });
		await page.getByLabel('E-mail').waitFor();
		assert.ok(requests <= 9, `${requests} requests`);
		assert.ok(bytes <= 150 * 1024, `${bytes} bytes`);
		await page.context().close();
	});
});
