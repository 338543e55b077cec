import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { addUser } from '#administration/users.ts';
import { adt } from '#test/support/adt.ts';
import { assertFits, type ConsoleBrowser, consoleBrowser, goTo, seriousViolations, settled, signInOnPage } from '#test/support/browser.ts';
import { sendAll } from '#test/support/mllp-client.ts';
import { without } from '#test/support/needs.ts';
import { type TestService, testService } from '#test/support/service.ts';

describe('from failure to remedy in the console', { skip: without('chromium') }, () => {
	let service: TestService;
	let browser: ConsoleBrowser;
	let key: string;
	const cause = async (page: Page, text: string) => {
		await goTo(page, '/failures?site=north', 'Failures');
		return page.getByRole('row').filter({ hasText: text });
	};
	before(async () => {
		service = await testService();
		({ key } = await service.addSite('north'));
		const refused = [...['1', '2', '3'].map((id) => adt(id, id, id, 'A28')), ...['4', '5', '6'].map((id) => adt(id, '', id))];
		assert.deepEqual(new Set(await sendAll(service, ...refused)), new Set(['AE']));
		browser = await consoleBrowser(service);
	});
	after(async () => {
		await browser[Symbol.asyncDispose]();
		await service[Symbol.asyncDispose]();
		assert.deepEqual(browser.faults, []);
	});

	test('the message that failed is found, explained and mended with all that wait in four clicks', async () => {
		const page = await browser.open();
		await signInOnPage(service, page);
		await page.getByRole('link', { name: 'Failures' }).click();
		await page.getByRole('row').filter({ hasText: 'ADT^A28' }).getByRole('link', { name: 'Mend' }).click();
		const wrong = page.getByRole('region', { name: 'What is wrong' });
		await wrong.getByText('MSH-9 (Message Type): this event is not accepted from this sender.').waitFor();
		await wrong.getByText('HL7 v2.5.1 §2.15.9.9 (MSH-9, table 0003)').waitFor();
		assert.match((await page.locator('tr.at-fault').textContent()) ?? '', /^MSH-9/);
		await wrong.getByRole('button', { name: 'Accept ADT^A28 from this sender…' }).click();
		const dialog = page.getByRole('dialog', { name: 'Accept ADT^A28 from this sender?' });
		await dialog.getByText('3 messages wait for this cause. With the changed setting: 3 accepted. Nothing was written.').waitFor();
		assert.deepEqual(await seriousViolations(page), []);
		await dialog.getByRole('button', { name: 'Change it and replay 3' }).click();
		await page.getByText('The setting is changed, and the replay of 3 messages has started.').waitFor();
		await goTo(page, '/failures?site=north', 'Failures');
		const run = page.locator('.run-line').filter({ hasText: '3 accepted' });
		await run.waitFor();
		assert.match((await run.textContent()) ?? '', /^accepted/);
		const { body } = await service.fhir('/fhir/Patient?identifier=3', key);
		assert.equal(body.entry?.length, 1);
		await run.getByRole('button', { name: 'Put away' }).click();
		await run.waitFor({ state: 'detached' });
		await page.context().close();
	});

	test('a replay in vain is warned of, told as such, and stays one cause; filters typed before do not hide its messages', async () => {
		const page = await browser.open();
		await signInOnPage(service, page);
		await goTo(page, '/messages?site=north', 'Messages');
		await page.getByLabel('Patient identifier').fill('1');
		await page.getByLabel('Outcome').selectOption('accepted');
		const row = await cause(page, 'PID-3 has no identifier');
		await row.getByRole('button', { name: 'Replay…' }).click();
		const dialog = page.getByRole('dialog', { name: 'Replay 3 messages?' });
		await dialog.getByText('As everything is now: 3 refused again.').waitFor();
		await dialog.getByRole('button', { name: 'Replay anyway' }).click();
		const run = page.locator('.run-line').filter({ hasText: '3 refused again' });
		await run.waitFor();
		assert.match((await run.textContent()) ?? '', /^refused again/);
		await settled(page);
		assert.match((await row.textContent()) ?? '', /3of 3/);
		await row.getByRole('link').first().click();
		await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor();
		await page.getByText('6 messages', { exact: true }).first().waitFor();
		await page.context().close();
	});

	test('leads through what waits by j and k, edits one, and sets one aside that can be taken up again', async () => {
		const page = await browser.open();
		await signInOnPage(service, page);
		await (await cause(page, 'PID-3 has no identifier')).getByRole('link', { name: 'Mend' }).click();
		const wrong = page.getByRole('region', { name: 'What is wrong' });
		await wrong.getByText('PID-3 (Patient Identifier List): a value that the message needs is missing.').waitFor();
		await page.getByRole('link', { name: 'Older' }).waitFor();
		const first = page.url();
		await page.keyboard.press('j');
		await page.waitForURL((url) => url.href !== first);
		await page.getByRole('link', { name: 'Newer' }).waitFor();
		await page.keyboard.press('k');
		await page.waitForURL(first);
		await wrong.waitFor();

		const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()]);
		assert.match(download.suggestedFilename(), /^message-[0-9a-f-]{36}\.hl7$/);
		assert.match(readFileSync(await download.path(), 'latin1'), /^MSH\|.*\rEVN\|A08/);
		assert.equal(await page.getByRole('link', { name: 'north sender' }).count(), 1);
		await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
		// A page without TLS has no clipboard of its own.
		for (const clipboard of ['navigator.clipboard', 'undefined']) {
			await page.evaluate("navigator.clipboard.writeText('nothing')");
			await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: ${clipboard}, configurable: true })`);
			await page.getByRole('button', { name: 'Copy', exact: true }).click();
			await page.getByRole('button', { name: 'Copied' }).waitFor();
			assert.match(await page.evaluate<string>('delete navigator.clipboard; navigator.clipboard.readText()'), /^MSH\|.*\nEVN\|A08/);
		}

		await page.getByRole('button', { name: 'Edit and send again…' }).click();
		const editor = page.getByRole('textbox', { name: 'Message' });
		await editor.fill((await editor.inputValue()).replace('||^^^MRN', '||4711^^^MRN'));
		await page.getByRole('button', { name: 'Send the edited message' }).click();
		await page.getByText('The edited message was sent.').waitFor();
		await page.getByRole('tab', { name: 'What was edited' }).click();
		await page.locator('.difference .added').filter({ hasText: 'PID|1||4711' }).waitFor();
		assert.deepEqual(await seriousViolations(page), []);
		const { body } = await service.fhir('/fhir/Patient?identifier=4711', key);
		assert.equal(body.entry?.length, 1);

		const row = await cause(page, 'PID-3 has no identifier');
		await row.getByRole('link', { name: 'Mend' }).click();
		await wrong.getByRole('button', { name: 'Set aside…' }).click();
		await page.getByLabel('Reason').fill('a test of the sender');
		await page.getByRole('button', { name: 'Set aside', exact: true }).click();
		await wrong.getByText('a test of the sender').waitFor();
		await page.route('**/take-up', (route) => route.fulfill({ status: 409, json: { error: 'it is not set aside any more' } }));
		await wrong.getByRole('button', { name: 'Take up again' }).click();
		await page.getByText('it is not set aside any more').first().waitFor();
		await page.unroute('**/take-up');
		await goTo(page, '/set-aside?site=north', 'Set aside');
		await page.getByText('a test of the sender').waitFor();
		assert.deepEqual(await seriousViolations(page), []);
		await page.getByRole('button', { name: 'Take up again' }).click();
		await page.getByText('Nothing is set aside').waitFor();
		await page.context().close();
	});

	test('an auditor sees what is wrong and what would mend it, and changes nothing; a narrow window has room for it', async () => {
		await addUser(service.administration, { email: 'audit@example.org', role: 'auditor', sites: ['north'] });
		const page = await browser.open({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
		await signInOnPage(service, page, 'audit@example.org');
		await (await cause(page, 'PID-3 has no identifier')).getByRole('link', { name: 'Latest' }).click();
		await page.getByRole('region', { name: 'What is wrong' }).waitFor();
		assert.equal(await page.getByRole('button', { name: /…$/ }).count(), 0);
		await assertFits(page);
		await page.context().close();
	});
});
