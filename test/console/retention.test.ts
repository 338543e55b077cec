import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { setSite } from '#administration/sites.ts';
import { addUser } from '#administration/users.ts';
import { assertFits, type ConsoleBrowser, consoleBrowser, goTo, seriousViolations, settled, signInOnPage } from '#test/support/browser.ts';
import { without } from '#test/support/needs.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { addImagingSite, ctInstance, StorageScu } from '#test/support/storage-scu.ts';

const [held, doomed] = ['2.999.70.1', '2.999.70.2'];

describe('retention in the console', { skip: without('chromium') }, () => {
	let service: TestService;
	let browser: ConsoleBrowser;
	before(async () => {
		service = await testService();
		await addImagingSite(service, 'north');
		await setSite(service.administration, { slug: 'north', study_retention_days: '30', message_retention_days: '3650' });
		await addUser(service.administration, { email: 'manager@example.org', role: 'manager', sites: ['north'] });
		await addUser(service.administration, { email: 'auditor@example.org', role: 'auditor', all_sites: true });
		const scu = await StorageScu.open(service.port('dimse'), { called: 'NORTH' });
		for (const studyUid of [held, doomed]) await scu.store(ctInstance({ sopInstanceUid: `${studyUid}.1`, studyUid, patientId: '70501' }));
		await scu.release();
		await service.rows("update imaging_study set updated_at = now() - interval '60 days'");
		await service.rows(
			`insert into unmatched_message (id, received_at, surface, source, reason, message_type, control_id, bytes)
			values ('018c0000-0000-7000-8000-000000000001', '2023-11-24T10:00:00Z', 'mllp', '192.0.2.9', 'no-sender', 'ADT^A08', 'old', 'x')`,
		);
		browser = await consoleBrowser(service);
	});
	after(async () => {
		await browser[Symbol.asyncDispose]();
		await service[Symbol.asyncDispose]();
		assert.deepEqual(browser.faults, []);
	});

	const opened = async (email: string, tab?: string): Promise<Page> => {
		const page = await browser.open();
		await signInOnPage(service, page, email);
		await page.getByRole('link', { name: 'Retention' }).click();
		await page.getByRole('heading', { level: 1, name: 'Retention' }).waitFor();
		if (tab !== undefined) await page.getByRole('tab', { name: tab }).click();
		await settled(page);
		return page;
	};

	test('says for each site what stays how long, and who decided so', async () => {
		const page = await opened('manager@example.org');
		await page.getByRole('row', { name: /^Messages north 3,650 days the site/ }).waitFor();
		await page.getByRole('row', { name: /^Audit trail north for ever the network/ }).waitFor();
		assert.equal(await page.getByRole('row', { name: /no site/ }).count(), 0, 'a manager sees the own sites');
		assert.deepEqual(await seriousViolations(page), []);
		await page.getByRole('tab', { name: 'Runs' }).click();
		await page.getByText('Only people who may see all of them can see the runs.').waitFor();
		await page.context().close();
	});

	test('a hold is placed on the page of its study, and stands in the list with its reason', async () => {
		const page = await browser.open();
		await signInOnPage(service, page, 'manager@example.org');
		await page.goto(`/studies/north/${held}`);
		await page.getByRole('button', { name: 'Legal hold…' }).click();
		await page.getByRole('button', { name: 'Place the hold' }).click();
		await page.getByText('Reason is required.').waitFor();
		await page.getByLabel('Reason').fill('File 12/2026');
		await page.getByRole('button', { name: 'Place the hold' }).click();
		await page.getByText('The study is under a legal hold.').first().waitFor();
		await goTo(page, '/retention?tab=holds', 'Retention');
		await page.getByRole('row', { name: new RegExp(`${held}.*north.*File 12/2026.*manager@example.org.*in force`) }).waitFor();
		await page.getByRole('button', { name: 'Place a hold' }).click();
		await page.getByRole('dialog').getByLabel('Site').selectOption('north');
		await page.getByLabel('A study').check();
		await page.getByLabel('Study Instance UID').fill('2.999.1.999');
		await page.getByLabel('Reason').fill('File 13/2026');
		await page.getByRole('button', { name: 'Place the hold' }).click();
		await page.locator('[data-field="study"] .error').getByText("There is no study '2.999.1.999'").waitFor();
		assert.deepEqual(await seriousViolations(page), []);
		await page.context().close();
	});

	test('what would go is counted before, and a run removes just that', async () => {
		const page = await opened('owner@example.org');
		await page.getByRole('button', { name: 'Count what would be removed now' }).click();
		await page.getByText(/^The next run would remove 1 study, 1 unmatched message: about /).waitFor();
		await page
			.getByRole('row', { name: /^Studies .* north 30 days the site .*1 study, .*1 older study is kept by a legal hold/ })
			.waitFor();
		await page.getByRole('row', { name: /^Unmatched messages no site 400 days the network .*1 unmatched message, .*2023-11-24/ }).waitFor();
		await page.getByRole('row', { name: /^Messages north .*keeps all of it nothing/ }).waitFor();
		assert.deepEqual(await seriousViolations(page), []);
		await page.setViewportSize({ width: 390, height: 844 });
		await assertFits(page);
		await page.setViewportSize({ width: 1280, height: 800 });
		await page.getByRole('tab', { name: 'Runs' }).click();
		await page.getByRole('button', { name: 'Run now…' }).click();
		await page.getByRole('button', { name: 'Remove what is too old' }).click();
		await page.getByRole('row', { name: /owner@example\.org done 1 study north\s*1 unmatched message of no site/ }).waitFor();
		await service.rows(
			`insert into retention_run (id, asked_by, state, finished_at, removed, failure)
			values ('01ffffff-0000-7000-8000-000000000001', 'retention', 'failed', now(), '[]', 'the object store does not answer')`,
		);
		await page.reload();
		await page.getByRole('row', { name: /the service failed the object store does not answer nothing/ }).waitFor();
		assert.deepEqual(await seriousViolations(page), []);
		await page.getByRole('tab', { name: 'Deleted studies' }).click();
		await page.getByRole('row', { name: new RegExp(`${doomed} north 1 image in 1 series.*by owner@example.org`) }).waitFor();
		assert.equal(await page.getByText(held).count(), 0);
		assert.deepEqual(await seriousViolations(page), []);
		await page.context().close();
	});

	test('an auditor sees the holds and changes none; a manager removes one with a reason, and its record stays', async () => {
		const auditor = await opened('auditor@example.org', 'Legal holds');
		await auditor.getByRole('row', { name: new RegExp(held) }).waitFor();
		assert.equal(await auditor.getByRole('button', { name: /Place|Remove/ }).count(), 0);
		await auditor.getByRole('tab', { name: 'Runs' }).click();
		await auditor.getByRole('row', { name: /owner@example\.org/ }).waitFor();
		assert.equal(await auditor.getByRole('button', { name: 'Run now…' }).count(), 0);
		await auditor.context().close();
		const page = await opened('manager@example.org', 'Legal holds');
		await page.getByRole('button', { name: 'Remove…' }).click();
		await page.getByRole('dialog').getByText('File 12/2026').waitFor();
		await page.getByLabel('Why it no longer holds').fill('The file is closed');
		await page.getByRole('button', { name: 'Remove the hold' }).click();
		await page.getByText('No legal holds').waitFor();
		await page.getByLabel('Which').selectOption('all');
		await page.getByRole('row', { name: new RegExp(`${held}.*File 12/2026.*Removed`) }).waitFor();
		const noted = await service.rows<{ action: string }>("select action from audit_event where action like 'hold.%' order by id");
		assert.deepEqual(
			noted.map(({ action }) => action),
			['hold.add', 'hold.remove'],
		);
		await page.context().close();
	});
});
