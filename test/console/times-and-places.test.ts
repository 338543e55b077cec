import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { searchPatients } from '#administration/patients.ts';
import { setSite } from '#administration/sites.ts';
import { newId } from '#core/id.ts';
import { addressOf, type ConsoleBrowser, consoleBrowser, goTo, settled, signInOnPage } from '#test/support/browser.ts';
import { opened, sendImages } from '#test/support/images.ts';
import { MllpClient } from '#test/support/mllp-client.ts';
import { without } from '#test/support/needs.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';

const pid = 'PID|1||4711^^^MRN||Okafor^Ngozi||19580314|F';

/** Their instants make the first of them the newest, and their texts the second. One has a day alone. */
const times = ['20260105020000-0500', '20260105073000+0100', '20260103'] as const;

const oru = (at: string, index: number) =>
	[
		`MSH|^~\\&|LAB|NORTH|||20260105080000+0100||ORU^R01|R${index}|P|2.5.1`,
		pid,
		`OBR|1||F${index}|718-7^Hemoglobin^LN|||${at}`,
		`OBX|1|NM|718-7^Hemoglobin^LN||1${index}.2|g/dL|12.0-15.5||||F|||${at}`,
	].join('\r');

const adt = (index: number) => [`MSH|^~\\&|ADT|NORTH|||20260105080000+0100||ADT^A08|A${index}|P|2.5.1`, 'EVN||20260105', pid].join('\r');

/** A study of half past seven in Berlin with a procedure step, which states no offset for its end. */
async function receive(service: TestService, key: string): Promise<void> {
	const mllp = await MllpClient.connect(service.port('mllp'));
	for (const [index, at] of times.entries()) assert.match(await mllp.send(oru(at, index)), /MSA\|AA/);
	for (let index = 0; index < 60; index++) assert.match(await mllp.send(adt(index)), /MSA\|AA/);
	mllp.close();
	await setSite(service.administration, { slug: 'north', time_zone: 'Europe/Berlin' });
	await opened(service, 'north');
	const study = { studyUid: '2.999.1.1', seriesUid: '2.999.1.1.1', modality: 'CT', date: '20260105', time: '073000' };
	const whose = { patientId: '4711', patientName: 'Okafor^Ngozi', birthDate: '19580314', sex: 'F' };
	await sendImages(service.port('dimse'), 'NORTH', [{ sopInstanceUid: '2.999.1.1.1.1', ...study, ...whose }]);
	const { status } = await fetch(`http://127.0.0.1:${service.port('mpps')}/ingest`, {
		method: 'POST',
		headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
		body: JSON.stringify({ sop_instance_uid: '2.999.1.9', study_uid: '2.999.1.1', status: 'COMPLETED' }),
	});
	assert.equal(status, 200);
	await service.rows("update mpps_session set started = '2026-01-05T07:30:00+01:00', ended = '2026-01-05T07:45:00'");
}

describe('the console, in another time zone than its senders', { skip: without('chromium') }, () => {
	let service: TestService;
	let browser: ConsoleBrowser;
	let page: Page;
	let patient: string;
	before(async () => {
		service = await testService();
		const { key } = await service.addSite('north');
		await service.addSite('empty', { allowed_ips: ['127.0.0.2'] });
		await eventually(async () => (await service.fhir('/fhir/Patient', key)).status === 200, 'the key');
		await receive(service, key);
		const [found] = await searchPatients(service.administration, { site: 'north', text: '4711', limit: 1 });
		patient = `/patients/north/${found?.id}`;
		browser = await consoleBrowser(service);
		page = await browser.open({ viewport: { width: 1280, height: 900 }, timezoneId: 'America/New_York', reducedMotion: 'reduce' });
		await signInOnPage(service, page);
	});
	after(async () => {
		await browser[Symbol.asyncDispose]();
		await service[Symbol.asyncDispose]();
		assert.deepEqual(browser.faults, []);
	});

	const timesOf = (within: Locator) => within.locator('tbody time').allTextContents();
	const stands = (text: string, within: Locator = page.locator('main')) => within.getByText(text, { exact: true }).first().waitFor();

	test('has one time for a result in the table and the chart, newest first, and a day stays a day', async () => {
		await goTo(page, patient, 'Okafor, Ngozi');
		const latest = page.getByRole('table', { name: 'Latest result of each code' });
		assert.deepEqual(await timesOf(latest), ['2026-01-05 02:00']);
		await page.getByRole('button', { name: 'Hemoglobin' }).click();
		const all = page.getByRole('table', { name: 'All results of Hemoglobin, newest first' });
		assert.deepEqual(await timesOf(all), ['2026-01-05 02:00', '2026-01-05 01:30', '2026-01-03']);
		assert.deepEqual(await all.locator('tbody time').evaluateAll((found) => found.map((one) => one.getAttribute('title'))), [
			'stated as 2026-01-05T02:00:00-05:00 · 2026-01-05 07:00:00 UTC',
			'stated as 2026-01-05T07:30:00+01:00 · 2026-01-05 06:30:00 UTC',
			'stated as 2026-01-03',
		]);
		const chart = page.getByRole('slider', { name: 'Course of Hemoglobin' });
		await chart.focus();
		await page.keyboard.press('End');
		for (const at of ['2026-01-05 02:00', '2026-01-05 01:30', '2026-01-03']) {
			assert.ok(String(await chart.getAttribute('aria-valuetext')).startsWith(`${at}: Hemoglobin`), at);
			await page.keyboard.press('ArrowLeft');
		}
		await page.getByText(/^Times are in America\/New_York/).waitFor();
	});

	test('has the same time on the pages of the study, its series, its images and its procedure step', async () => {
		await goTo(page, `${patient}?tab=studies`, 'Okafor, Ngozi');
		assert.deepEqual(await timesOf(page.getByRole('table', { name: 'Studies, newest first' })), ['2026-01-05 01:30']);
		await goTo(page, '/studies?site=north', 'Studies');
		await stands('2026-01-05 01:30');
		await goTo(page, '/studies/north/2.999.1.1', 'CT of 2026-01-05 01:30');
		await stands('2026-01-05 01:30', page.locator('.lead'));
		assert.deepEqual(await timesOf(page.getByRole('table', { name: 'Series' })), ['2026-01-05 01:30']);
		const step = ['2026-01-05 01:30', '2026-01-05 07:45:00 (as stated)'];
		assert.deepEqual(await timesOf(page.getByRole('table', { name: 'Procedure steps, newest first' })), step);
		await page.getByRole('link', { name: 'View', exact: true }).click();
		await stands('2026-01-05 01:30');
		await goTo(page, '/steps?site=north', 'Procedure steps');
		await stands('2026-01-05 01:30');
		await page.locator('main [data-row-link]').first().click();
		for (const text of step) await stands(text);
		await goTo(page, `${patient}?tab=timeline&kinds=step,study,result`, 'Okafor, Ngozi');
		const timeline = page.getByRole('table', { name: 'What is known of this patient, newest first' });
		assert.deepEqual((await timesOf(timeline)).toSorted(), [
			'2026-01-03',
			'2026-01-05 01:30',
			'2026-01-05 01:30',
			'2026-01-05 01:30',
			'2026-01-05 02:00',
		]);
	});

	test('has one word for the state of a report', async () => {
		await goTo(page, `${patient}?tab=reports`, 'Okafor, Ngozi');
		const states = (table: string) => page.getByRole('table', { name: table }).locator('tbody [data-title="Status"]').allTextContents();
		assert.deepEqual(await states('Reports'), ['draft', 'draft', 'draft']);
		await goTo(page, '/reports?site=north', 'Reports');
		assert.deepEqual(await states('Reports, newest first'), ['draft', 'draft', 'draft']);
		await goTo(page, `${patient}?tab=timeline&kinds=report`, 'Okafor, Ngozi');
		const timeline = page.getByRole('table', { name: 'What is known of this patient, newest first' });
		assert.deepEqual(await timeline.locator('tbody [data-title="State"]').allTextContents(), ['draft', 'draft', 'draft']);
	});

	for (const [tab, address, kind] of [
		['Timeline', '?tab=timeline&kinds=message', 'Messages'],
		['Messages', '?tab=messages', undefined],
	] as const) {
		test(`goes back to the rows of the tab ${tab} on the page of a patient`, async () => {
			await goTo(page, patient, 'Okafor, Ngozi');
			await page.getByRole('tab', { name: tab }).click();
			if (kind !== undefined) await page.getByLabel(kind, { exact: true }).check();
			await settled(page);
			assert.equal(addressOf(page), `${patient}${address}`);
			await page.getByRole('button', { name: 'Load more' }).click();
			const row = page.locator('main [data-row-link]').nth(55);
			await row.scrollIntoViewIfNeeded();
			const [scrolled, href] = [await page.evaluate<number>('scrollY'), await row.getAttribute('href')];
			await row.click();
			await page.getByRole('heading', { level: 1, name: 'ADT^A08' }).waitFor();
			await page.goBack();
			await eventually(async () => (await page.evaluate('scrollY')) === scrolled, 'the place of before');
			assert.equal(await page.getByRole('tab', { name: tab }).getAttribute('aria-selected'), 'true');
			assert.equal(await page.evaluate('document.activeElement.getAttribute("href")'), href);
		});
	}

	test('goes back to the rows that were set aside, and to the runs of retention', async () => {
		await service.rows(`insert into set_aside_message (site_id, message_id, reason, actor)
			select site_id, id, 'a test of the sender', 'owner@example.org' from message_log where message_type = 'ADT^A08'`);
		for (let run = 0; run < 60; run++) {
			await service.rows("insert into retention_run (id, asked_by, state, finished_at) values ($1, 'retention', 'done', now())", [newId()]);
		}
		for (const [path, heading, all] of [
			['/set-aside?site=north', 'Set aside', '60 messages'],
			['/retention?tab=runs', 'Retention', '60 runs'],
		] as const) {
			await goTo(page, path, heading);
			await page.getByRole('button', { name: 'Load more' }).click();
			await stands(all);
			await page.getByRole('navigation').getByRole('link', { name: 'Studies', exact: true }).click();
			await page.getByRole('heading', { level: 1, name: 'Studies' }).waitFor();
			await page.goBack();
			await stands(all);
		}
	});

	test('goes back to the chart of a code', async () => {
		await goTo(page, patient, 'Okafor, Ngozi');
		await page.getByRole('button', { name: 'Hemoglobin' }).click();
		const all = page.getByRole('table', { name: 'All results of Hemoglobin, newest first' });
		await all.getByRole('link', { name: 'from a message' }).first().click();
		await page.getByRole('heading', { level: 1, name: 'ORU^R01' }).waitFor();
		await page.goBack();
		await all.waitFor();
	});

	test('shows the key / in the search field that it leads to, and in no other', async () => {
		for (const [path, heading, label] of [
			['/messages?site=north', 'Messages', 'Patient identifier'],
			['/studies?site=north', 'Studies', 'Search studies'],
			['/steps?site=north', 'Procedure steps', 'Patient identifier'],
			['/audit', 'Audit', 'Who'],
		] as const) {
			await goTo(page, path, heading);
			assert.equal(await page.locator('main .search .key').count(), 1, path);
			await page.keyboard.press('/');
			assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-label")'), label);
			assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-keyshortcuts")'), '/');
		}
	});

	test('orders a list that is here as a whole by its heads, and keeps the order for the way back', async () => {
		await goTo(page, '/sites', 'Sites');
		const slugs = () => page.locator('main [data-row] td:nth-child(2)').allTextContents();
		const head = page.getByRole('columnheader', { name: 'Short name' });
		for (const [direction, expected] of [
			['ascending', ['empty', 'north']],
			['descending', ['north', 'empty']],
		] as const) {
			await head.getByRole('button').click();
			await page.locator(`th[aria-sort="${direction}"]`).waitFor();
			assert.deepEqual(await slugs(), expected);
		}
		await page.getByRole('link', { name: /^empty/i }).click();
		await page.getByRole('heading', { level: 2, name: 'This site' }).waitFor();
		await page.goBack();
		await page.locator('th[aria-sort="descending"]').waitFor();
		// A third press leaves the order of the service. A list that comes by pages has no such heads.
		await head.getByRole('button').click();
		await page.locator('th[aria-sort]').waitFor({ state: 'detached' });
		await goTo(page, '/messages?site=north', 'Messages');
		await page.locator('main [data-row]').first().waitFor();
		assert.equal(await page.locator('th button').count(), 0);
	});

	test('has the headings of empty lists in their order', async () => {
		await goTo(page, '/messages?site=empty', 'Messages');
		await page.getByRole('heading', { level: 2, name: 'No messages yet' }).waitFor();
		await goTo(page, `${patient}?tab=allergies`, 'Okafor, Ngozi');
		await page.getByRole('heading', { level: 3, name: 'No allergy recorded' }).waitFor();
	});
});
