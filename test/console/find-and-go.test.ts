import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { saveFilterOf } from '#administration/saved-filters.ts';
import { addUser } from '#administration/users.ts';
import { addressOf, type ConsoleBrowser, consoleBrowser, goTo, seriousViolations, settled, signInOnPage } from '#test/support/browser.ts';
import { eventually } from '#test/support/eventually.ts';
import { logOf } from '#test/support/message-rows.ts';
import { without } from '#test/support/needs.ts';
import { type TestService, testService } from '#test/support/service.ts';

describe('lists of the console', { skip: without('chromium') }, () => {
	let service: TestService;
	let browser: ConsoleBrowser;
	let page: Page;
	before(async () => {
		service = await testService();
		await service.addSite('north');
		await service.rows(...logOf('north', 400));
		browser = await consoleBrowser(service);
		page = await browser.open({ viewport: { width: 1280, height: 900 }, timezoneId: 'Europe/Berlin' });
		await signInOnPage(service, page);
	});
	after(async () => {
		await browser[Symbol.asyncDispose]();
		await service[Symbol.asyncDispose]();
		assert.deepEqual(browser.faults, []);
	});

	const found = (text: string) => page.getByText(text, { exact: true }).first().waitFor();
	const address = () => new URL(page.url()).search;

	test('keep their filters in the address, but for what names a patient', async () => {
		await goTo(page, '/messages', 'Messages');
		await page.getByLabel('Outcome').selectOption('refused');
		// Shortly after midnight most messages are of yesterday, so that they are not counted by the day.
		const asked = page.waitForRequest(
			(request) => request.url().endsWith('/messages/search') && request.postDataJSON().since !== undefined,
		);
		await page.getByRole('combobox', { name: 'Time' }).selectOption('today');
		const { since, until } = (await asked).postDataJSON();
		const clocks = [since, until].map((end) => new Date(end).toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin' }));
		assert.deepEqual(clocks, ['00:00:00', '00:00:00']);
		assert.ok(Date.parse(since) <= Date.now() && Date.now() < Date.parse(until), `${since} to ${until}`);
		assert.equal(address(), '?outcome=refused&last=today');
		await page.getByRole('combobox', { name: 'Time' }).selectOption('1h');
		await found('40 messages');
		assert.equal(address(), '?outcome=refused&last=1h');
		await page.reload();
		await found('40 messages');
		assert.equal(await page.getByLabel('Outcome').inputValue(), 'refused');
		await page.getByRole('combobox', { name: 'Time' }).selectOption('between');
		await page.getByLabel('Until (Europe/Berlin)').fill('31/01/2026');
		await page.getByLabel('Until (Europe/Berlin)').press('Enter');
		await page.getByText('Write it as 2026-01-31').waitFor();
		await page.getByLabel('Until (Europe/Berlin)').fill('2026-01-31 13:45');
		await page.getByLabel('Until (Europe/Berlin)').press('Enter');
		await page.getByText('No messages match the filters').waitFor();
		assert.equal(new URLSearchParams(address()).get('until'), '2026-01-31T12:45:00.000Z');
		await page.getByText(/^Times are in Europe\/Berlin/).waitFor();
		await page.getByRole('button', { name: 'Clear', exact: true }).click();
		await page.getByLabel('Patient identifier').fill('p79');
		await found('4 messages');
		assert.equal(address(), '');
		await page.getByRole('link', { name: 'Messages', exact: true }).first().click();
		await found('50 messages so far');
	});

	test('of messages have rows of one line, of which a window of 1440 by 900 shows fifteen', async () => {
		// Long values are cut off, and make no row higher.
		const remarked = (failure: string, control: string) =>
			service.rows('update message_log set failure = $1, control_id = $2 || sequence where sequence in (395, 385)', [failure, control]);
		await remarked('PID-3 has no identifier of an authority that is known here; '.repeat(5), 'Long-'.repeat(12));
		await page.setViewportSize({ width: 1440, height: 900 });
		for (const site of ['', '?site=north']) {
			await goTo(page, `/messages${site}`, 'Messages');
			await page.getByRole('slider', { name: /^messages over time/ }).waitFor();
			const measured = (await page.evaluate(`(() => {
				const rows = [...document.querySelectorAll('main tbody [data-row]')];
				const cell = getComputedStyle(rows[0].querySelector('td'));
				const line = parseFloat(cell.lineHeight) + parseFloat(cell.paddingTop) + parseFloat(cell.paddingBottom) + parseFloat(cell.borderBottomWidth);
				const boxes = rows.map((row) => row.getBoundingClientRect());
				const filters = [...document.querySelectorAll('main .filters :is(input, select, button)')].map((each) => each.getBoundingClientRect().top);
				return {
					line,
					filterLines: new Set(filters.map(Math.round)).size,
					heights: boxes.map(({ height }) => height),
					visible: boxes.filter(({ bottom }) => bottom <= innerHeight).length,
					overflow: document.querySelector('main .table-frame').scrollWidth - document.querySelector('main .table-frame').clientWidth,
				};
			})()`)) as { line: number; filterLines: number; heights: number[]; visible: number; overflow: number };
			assert.equal(measured.heights.length, 50);
			assert.equal(measured.filterLines, 1, 'the filters share a line');
			for (const height of measured.heights)
				assert.ok(height < 1.35 * measured.line, `a row of ${height} px where a line has ${measured.line} px`);
			assert.ok(measured.visible >= 15, `${measured.visible} rows are visible`);
			assert.equal(measured.overflow, 0, 'the table is as wide as its frame');
		}
		const long = page.getByRole('row', { name: /Long-/ }).first();
		assert.equal(
			(await long.getByTitle(/^PID-3 has no identifier of an authority/).getAttribute('title'))?.match(/known here/g)?.length,
			5,
		);
		for (const label of ['Patient identifier', 'Control id']) await page.getByRole('searchbox', { name: label }).waitFor();
		for (const label of ['Type', 'Outcome', 'Kind', 'Surface', 'Client', 'Time'])
			await page.getByRole('combobox', { name: label }).waitFor();
		await remarked('PID-3 has no identifier', 'Msg-');
		await page.setViewportSize({ width: 1280, height: 900 });
	});

	test('of senders, keys, users and holds keep what narrows them in the address', async () => {
		const lists = [
			['/clients', 'Integration clients', 'Search clients', 'NORTH send', '1 client'],
			['/keys', 'API keys', 'Search keys', 'nothing', 'No API keys match the search'],
			['/users', 'Users', 'Search users', 'nobody', 'No users match the search'],
		] as const;
		for (const [path, title, label, text, shown] of lists) {
			await goTo(page, path, title);
			await page.getByRole('searchbox', { name: label }).click();
			await page.keyboard.type(text);
			await found(shown);
			assert.equal(new URLSearchParams(address()).get('search'), text);
			await page.reload();
			await found(shown);
			assert.equal(await page.getByRole('searchbox', { name: label }).inputValue(), text);
		}
		await goTo(page, '/retention?tab=holds', 'Retention');
		await page.getByLabel('Which').selectOption('all');
		await page.reload();
		await page.getByRole('tab', { name: 'Legal holds', selected: true }).waitFor();
		assert.equal(await page.getByLabel('Which').inputValue(), 'all');
		assert.equal(new URLSearchParams(address()).get('which'), 'all');
	});

	test('of users say who is signed in and when each was last, and sign somebody out', async () => {
		await addUser(service.administration, { email: 'ann@example.org', role: 'manager', sites: ['north'] });
		await goTo(page, '/users', 'Users');
		await page.getByRole('row', { name: /ann@example\.org.*none known/ }).waitFor();
		const anns = await browser.open();
		await signInOnPage(service, anns, 'ann@example.org');
		await page.reload();
		const now = page.getByRole('region', { name: 'Signed in now' });
		await now.getByRole('row', { name: /ann@example\.org.*127\.0\.0\.1/ }).waitFor();
		await now.getByRole('row', { name: /owner@example\.org/ }).waitFor();
		assert.deepEqual(await seriousViolations(page), []);
		await now.getByRole('link', { name: 'ann@example.org' }).click();
		await page.getByRole('heading', { level: 1, name: 'ann@example.org' }).waitFor();
		await now.getByText('1 session', { exact: true }).waitFor();
		await page.getByRole('button', { name: 'Sign out everywhere…' }).click();
		await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
		await now.getByText('Not signed in').waitFor();
		await anns.getByRole('link', { name: 'Patients' }).click();
		await anns.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
		await anns.context().close();
	});

	test('of studies, reports, patients and procedure steps are narrowed by the beginning of a number', async () => {
		await service.rows(
			`with made as (
				insert into patient (site_id, id, version, last_updated, resource)
				select id, gen_random_uuid(), 1, now(), '{"identifier":[{"value":"Mrn-4711"}],"name":[{"family":"Lovemore"}]}' from site where slug = 'north' returning site_id, id
			), numbered as (
				insert into patient_identifier (site_id, value, system, patient_id, old, rank) select site_id, 'Mrn-4711', 'urn:mrn', id, false, 0 from made
			), reported as (
				insert into diagnostic_report (site_id, id, version, last_updated, resource, patient_id, status, filler_number)
				select site_id, gen_random_uuid(), 1, now(), '{"resourceType":"DiagnosticReport"}', id, 'final', 'Fill-4711' from made
			), performed as (
				insert into mpps_session (site_id, id, sop_instance_uid, study_uid, status, late, attributes, patient_id, patient_name, accession_number,
					series_uids, reports, last_digest, last_message_id, created_at, updated_at)
				select site_id, gen_random_uuid(), '2.999.1', '2.999.4711', 'COMPLETED', false, '{}', 'Mrn-4711', 'Lovemore', 'Acc-4711', '{}', 1, '',
					gen_random_uuid(), now(), now() from made
			)
			insert into imaging_study (site_id, study_uid, id, patient_id, accession_number, modalities, series_count, instance_count, bytes, created_at, updated_at)
			select site_id, '2.999.4711', gen_random_uuid(), id, 'Acc-4711', '{CT}', 1, 1, 1, now(), now() from made`,
		);
		await goTo(page, '/studies?site=north', 'Studies');
		await page.getByRole('searchbox', { name: 'Search studies' }).fill('cc-47');
		await page.getByText(/^Enter the beginning of an accession number/).waitFor();
		await page.getByRole('searchbox', { name: 'Search studies' }).fill('acc-47');
		await page.getByRole('row', { name: /Lovemore.*Acc-4711/ }).waitFor();
		await page.getByRole('searchbox', { name: 'Patient' }).fill('mrn-47');
		await page.getByRole('row', { name: /Lovemore.*Acc-4711/ }).waitFor();
		await goTo(page, '/reports?site=north', 'Reports');
		await page.getByRole('searchbox', { name: 'Search reports' }).fill('fill-47');
		await page.getByRole('row', { name: /Lovemore/ }).waitFor();
		await goTo(page, '/patients?site=north', 'Patients');
		await page.getByRole('searchbox', { name: 'Search patients' }).fill('mrn-47');
		await page.getByRole('row', { name: /Lovemore.*Mrn-4711/ }).waitFor();
		await goTo(page, '/steps?site=north', 'Procedure steps');
		await page.getByRole('searchbox', { name: 'Accession number' }).fill('cc-47');
		await page.getByText('No procedure steps match').waitFor();
		await page.getByRole('searchbox', { name: 'Accession number' }).fill('acc-47');
		await page.getByRole('searchbox', { name: 'Patient identifier' }).fill('mrn-4');
		await page.getByRole('row', { name: /Lovemore/ }).waitFor();
	});

	test('of the audit trail are narrowed to changes, of associations to an AE title and an outcome', async () => {
		await service.rows(
			`insert into audit_event (site_id, id, recorded_at, actor, action, subject, detail)
			select s.id, (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '70008000' || substr(md5(random()::text), 1, 12))::uuid, now(), 'sender',
				'dicom.association', calling, jsonb_build_object('called_ae', 'NORTH', 'started_at', to_json(now()), 'bytes', 1, 'instances', 1, 'warnings', 0,
				'failed', failed, 'requests', '', 'end', 'released')
			from site s cross join (values ('CT1', 0), ('CT2', 3), ('MR1', 0)) as a (calling, failed) where s.slug = 'north'`,
		);
		await goTo(page, '/associations?site=north', 'Associations');
		await page.getByLabel('AE title').fill('ct');
		await found('2 associations');
		await page.getByLabel('Outcome').selectOption('With failed requests');
		await found('1 association');
		assert.equal(address(), '?site=north&ae=ct&outcome=failed');
		await page.reload();
		await page.getByRole('row', { name: /CT2/ }).waitFor();
		await goTo(page, '/audit', 'Audit');
		await page.getByText('dicom.association', { exact: true }).first().waitFor();
		await page.getByRole('combobox', { name: /^Show/ }).selectOption('Changes only');
		await page.getByText('dicom.association', { exact: true }).first().waitFor({ state: 'detached' });
		await page.getByText('site.add', { exact: true }).first().waitFor();
		assert.equal(address(), '?changes=true');
	});

	test('are, after a message, what they were before it', async () => {
		await goTo(page, '/messages?site=north', 'Messages');
		await page.getByRole('button', { name: 'Load more' }).click();
		await found('100 messages so far');
		await page.getByRole('button', { name: 'Load more' }).click();
		await found('150 messages so far');
		const row = page.locator('[data-row-link]').nth(120);
		await row.scrollIntoViewIfNeeded();
		const [scrolled, href] = [await page.evaluate<number>('scrollY'), await row.getAttribute('href')];
		await row.click();
		await page.getByRole('heading', { level: 1, name: 'ADT^A08' }).waitFor();
		assert.equal(await page.evaluate('scrollY'), 0);
		for (const goBack of [() => page.goBack(), () => page.locator('.up').click()]) {
			await goBack();
			await eventually(async () => (await page.evaluate('scrollY')) === scrolled, 'the place of before');
			await found('150 messages so far');
			assert.equal(await page.evaluate('document.activeElement.getAttribute("href")'), href);
			await page.locator(`[href="${href}"]`).click();
			await page.getByRole('heading', { level: 1, name: 'ADT^A08' }).waitFor();
		}
	});

	test('are saved with their filters under a name, and found by it', async () => {
		await goTo(page, '/messages?outcome=refused', 'Messages');
		await page.getByRole('button', { name: 'Save filters…' }).click();
		await page.getByRole('dialog').getByLabel('Name').fill('What was refused');
		await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
		await page.getByText('The filters are saved as “What was refused”.').waitFor();
		await goTo(page, '/messages', 'Messages');
		await page.getByLabel('Saved filters').selectOption('What was refused');
		await found('40 messages');
		assert.equal(address(), '?outcome=refused');
		await page.getByRole('button', { name: 'Remove “What was refused”' }).click();
		await page.getByLabel('Saved filters').waitFor({ state: 'detached' });
		await assert.rejects(
			saveFilterOf(service.administration, { screen: '/messages', name: 'x', query: 'patient=P7' }),
			/a saved filter names none/,
		);
	});

	test('are whole as a file, with the members of the API', async () => {
		await goTo(page, '/messages?outcome=accepted', 'Messages');
		await found('50 messages so far');
		const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()]);
		assert.equal(download.suggestedFilename(), 'messages.csv');
		const lines = readFileSync(await download.path(), 'utf8')
			.trimEnd()
			.split('\r\n');
		assert.equal(lines.length, 361);
		assert.match(lines[0] ?? '', /^"id","site",.*"control_id"/);
	});

	test('are looked for by what fields hold, further back page by page', async () => {
		await goTo(page, '/messages', 'Messages');
		await page.getByRole('link', { name: 'Search in messages' }).click();
		await page.getByLabel('Field and text').fill('PID-5~^smi3');
		await page.getByLabel('And', { exact: true }).fill('PID-3.1=P10');
		await page.getByRole('button', { name: 'Search', exact: true }).click();
		await page.getByText(/^400 messages looked into, back to/).waitFor();
		assert.equal(address(), '');
		await found('1 message');
		await page.getByLabel('And', { exact: true }).fill('PID-5=');
		await page.getByLabel('Field and text').fill('nonsense');
		await page.getByRole('button', { name: 'Search', exact: true }).click();
		await page.getByRole('alert').waitFor();
	});

	test('start without filters where a link says what they show', async () => {
		await goTo(page, '/messages', 'Messages');
		await page.getByLabel('Patient identifier').fill('P79');
		await found('4 messages');
		await page.getByRole('link', { name: 'Failures' }).click();
		await settled(page);
		await page.locator('main [data-row-link]').first().click();
		await found('40 messages');
		assert.equal(await page.getByLabel('Patient identifier').inputValue(), '');
		await page.goBack();
		await page.goBack();
		await found('4 messages');
		assert.equal(await page.getByLabel('Patient identifier').inputValue(), 'P79');
	});

	test('are not gone to from unsaved edits without a question', async () => {
		await goTo(page, '/sites', 'Sites');
		await page.getByRole('link', { name: 'north', exact: true }).first().click();
		await page.getByLabel('Name', { exact: true }).fill('North Hospital');
		await page.getByRole('link', { name: 'Messages', exact: true }).first().click();
		const question = page.getByRole('dialog', { name: 'Leave without saving?' });
		await question.getByRole('button', { name: 'Cancel' }).click();
		assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'North Hospital');
		await page.goBack();
		await question.getByRole('button', { name: 'Cancel' }).click();
		assert.equal(new URL(page.url()).pathname, '/sites/north');
		assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'North Hospital');
		const asked = page.waitForEvent('dialog').then(async (dialog) => {
			await dialog.dismiss();
			return dialog.type();
		});
		await page.evaluate('void setTimeout(() => location.reload(), 0)');
		assert.equal(await asked, 'beforeunload');
		await page.goBack();
		await question.getByRole('button', { name: 'Leave' }).click();
		await page.getByRole('heading', { level: 1, name: 'Sites' }).waitFor();
		await page.goForward();
		await page.getByLabel('Name', { exact: true }).fill('North Hospital');
		await page.getByRole('button', { name: 'Save' }).click();
		await page.getByRole('heading', { level: 1, name: 'North Hospital' }).waitFor();
		await page.getByRole('link', { name: 'Messages', exact: true }).first().click();
		await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor();
	});

	test('are counted over time, and narrowed by a part of it', async () => {
		await goTo(page, '/messages?site=north&outcome=refused', 'Messages');
		const chart = page.getByRole('slider', { name: /^messages over time/ });
		await page.getByText('40 messages, Europe/Berlin').waitFor();
		await chart.focus();
		await page.keyboard.press('ArrowLeft');
		await page.keyboard.press('Shift+ArrowLeft');
		await page.keyboard.press('Shift+ArrowLeft');
		assert.match((await chart.getAttribute('aria-valuetext')) ?? '', /to .*: 40 messages/);
		await page.keyboard.press('Enter');
		await page.getByLabel('From (Europe/Berlin)').waitFor();
		await found('40 messages');
		assert.match(address(), /last=between&since=.*&until=/);
		const box = (await chart.boundingBox()) ?? assert.fail('the chart is not there');
		await page.mouse.move(box.x + 2, box.y + 20);
		await page.mouse.down();
		await page.mouse.move(box.x + box.width * 0.4, box.y + 20);
		await page.mouse.up();
		await page.getByText('No messages match the filters').waitFor();
	});

	test('are shown live, with a pause', async () => {
		await goTo(page, '/messages?site=north', 'Messages');
		await page.getByRole('button', { name: 'Live' }).click();
		await page.getByText('Live', { exact: true }).last().waitFor();
		const more = (id: string) =>
			service.rows(
				`insert into message_log (site_id, id, sequence, kind, surface, client_id, source, received_at, committed_at, message_type, control_id, outcome, bytes, ack)
				select site_id, (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '70008000' || lpad($1, 12, '0'))::uuid, 9999, kind, surface, client_id,
					source, now(), now(), 'ADT^A31', $1, 'accepted', bytes, ack from message_log order by id limit 1`,
				[id],
			);
		await more('101');
		await page.getByRole('row', { name: /ADT\^A31.*101/ }).waitFor();
		await page.getByRole('button', { name: 'Pause' }).click();
		await more('102');
		await page.getByRole('button', { name: 'Continue with 1 message' }).waitFor();
		assert.equal(await page.getByRole('row', { name: /102/ }).count(), 0);
		await page.getByRole('button', { name: 'Continue' }).click();
		await page.getByRole('row', { name: /102/ }).waitFor();
		assert.match(address(), /live=on/);
		const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()]);
		assert.match(readFileSync(await download.path(), 'utf8'), /^"id",.*"102"/s);
	});

	test('are left for whatever an id belongs to, by Ctrl-K', async () => {
		await goTo(page, '/messages', 'Messages');
		await page.keyboard.press('Control+k');
		const box = page.getByRole('dialog', { name: 'Find' });
		await box.getByRole('searchbox').fill('assoc');
		await box.getByRole('link', { name: 'Associations screen' }).waitFor();
		await page.keyboard.press('Enter');
		await page.getByRole('heading', { level: 1, name: 'Associations' }).waitFor();
		await page.keyboard.press('Control+k');
		await box.getByRole('searchbox').fill('msg-77');
		await box.getByRole('link', { name: /message Msg-77/ }).waitFor();
		assert.ok(!addressOf(page).includes('77'), 'what is typed stays out of the address');
		await page.keyboard.press('ArrowDown');
		await page.keyboard.press('Enter');
		await page.getByRole('heading', { level: 1, name: 'ADT^A08' }).waitFor();
		await page.getByRole('dialog').waitFor({ state: 'detached' });
	});
});
