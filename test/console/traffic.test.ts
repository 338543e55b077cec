import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setClient } from '#administration/clients.ts';
import { createKey } from '#administration/keys.ts';
import { setSite } from '#administration/sites.ts';
import { addressOf, assertFits, consoleBrowser, signInOnPage } from '#test/support/browser.ts';
import { opened } from '#test/support/images.ts';
import { MllpClient } from '#test/support/mllp-client.ts';
import { without } from '#test/support/needs.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { ctInstance, StorageScu } from '#test/support/storage-scu.ts';

const header = (type: string, id: string) => `MSH|^~\\&|ADT|NORTH|||20260105101500||${type}|${id}|P|2.5.1`;
const patient = (number: string, name: string) => `PID|1||${number}^^^MRN||${name}||19151210|F|||1 Analytical Row^^London`;
const admission = (id: string, number: string, name: string, event = 'A01') =>
	`${header(`ADT^${event}`, id)}\rEVN|${event}|20260105101500\r${patient(number, name)}\rPV1|1|I|W1^R2${'|'.repeat(16)}V-${number}\r`;
const result = (id: string, number: string, order: string, day: string, value: string) =>
	`${header('ORU^R01', id)}\r${patient(number, 'Lovemore^Ada')}\rOBR|1||${order}|24331-1^Lipids^LN|||${day}\rOBX|1|NM|2093-3^Cholesterol^LN||${value}|mg/dL|120-200|N|||F|||${day}\r`;

async function send(service: TestService, ...messages: string[]): Promise<string[]> {
	const sender = await MllpClient.connect(service.port('mllp'));
	const acks: string[] = [];
	for (const message of messages) acks.push(await sender.send(message));
	sender.socket.destroy();
	return acks;
}

/** A site with a patient, results, an image, a look-alike, and a message that its client may not send yet. */
async function withTraffic(service: TestService): Promise<{ client: string }> {
	await service.addSite('north');
	await eventually(
		async () => (await send(service, admission('one', '4711', 'Lovemore^Ada')))[0]?.includes('MSA|AA') === true,
		'the client',
	);
	const acks = await send(
		service,
		result('two', '4711', 'O1', '20260105080000', '190.50'),
		result('three', '4711', 'O2', '20260106080000', '204.0'),
		admission('four', '4812', 'Lovemore^Ada'),
		admission('five', '4711', 'Lovemore^Ada', 'A03'),
	);
	assert.deepEqual(
		acks.map((ack) => /MSA\|(A[AE])/.exec(ack)?.[1]),
		['AA', 'AA', 'AA', 'AE'],
	);
	await opened(service, 'north');
	const scu = await StorageScu.open(service.port('dimse'), { called: 'NORTH' });
	await scu.store(ctInstance({ sopInstanceUid: '1.2.826.0.1.7.1', studyUid: '1.2.826.0.1.7', patientId: '4711' }));
	await scu.release();
	const [client] = await service.rows<{ id: string }>('select id from integration_client where name = $1', ['north sender']);
	return { client: client?.id ?? '' };
}

describe('traffic and records in the console', { skip: without('chromium') }, () => {
	test('a message that was refused is found, its cause mended, it is taken again, and its patient read', async () => {
		await using service = await testService();
		const { client } = await withTraffic(service);
		await using browser = await consoleBrowser(service);
		const page = await browser.open({ viewport: { width: 1280, height: 900 } });
		await signInOnPage(service, page);

		await page.getByRole('link', { name: 'Failures' }).click();
		const cause = page.getByRole('row', { name: /ADT\^A03/ });
		await cause.getByText('1', { exact: true }).waitFor();
		await cause.getByRole('link', { name: 'Mend' }).click();
		await page.getByRole('heading', { level: 1, name: 'ADT^A03' }).waitFor();
		// By names of the standard, codes included.
		await page.getByText('Patient Identification', { exact: true }).waitFor();
		await page.getByText('Patient Identifier List').waitFor();
		await page.getByText('Inpatient').waitFor();
		await page.getByRole('tab', { name: 'Acknowledgement' }).click();
		await page.getByText('Message Acknowledgment', { exact: true }).waitFor();

		await setClient(service.administration, { id: client, also: ['A03'] });
		await page.getByRole('link', { name: 'Failures' }).click();
		await page
			.getByRole('row', { name: /ADT\^A03/ })
			.getByRole('button', { name: 'Replay…' })
			.click();
		await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
		await page.getByRole('region', { name: 'Replay' }).getByText('accepted', { exact: true }).waitFor();
		await page.getByRole('region', { name: 'Replay' }).getByText('1 accepted').waitFor();
		await page
			.getByRole('row', { name: /ADT\^A03/ })
			.getByText('resolved')
			.waitFor();

		await page.getByRole('link', { name: 'Messages' }).click();
		await page.getByLabel('Patient identifier').fill('4711');
		await page.getByRole('row').filter({ hasText: 'Replay' }).waitFor();
		assert.ok(!addressOf(page).includes('4711'), 'an identifier is in no address');
		await page.getByRole('row', { name: /Replay/ }).click();
		await page.getByText('an earlier message').waitFor();
		await page.getByRole('link', { name: 'Lovemore' }).first().click();

		await page.getByRole('heading', { level: 1, name: 'Lovemore, Ada' }).waitFor();
		const cholesterol = page.getByRole('row', { name: /Cholesterol/ });
		await cholesterol.getByText('204.0 mg/dL').waitFor();
		await cholesterol.getByRole('img', { name: /Cholesterol: now 204, lowest 190.5, highest 204/ }).waitFor();
		await cholesterol.getByRole('button').click();
		await page.getByText('190.50 mg/dL').waitFor();
		await page
			.getByRole('row', { name: /190.50/ })
			.getByRole('link', { name: 'from a message' })
			.click();
		await page.getByRole('heading', { level: 1, name: 'ORU^R01' }).waitFor();
		await page.getByText('two', { exact: true }).first().waitFor();
		const read = await service.rows("select actor from audit_event where action = 'patient.read'");
		// The page, and the results on it.
		const reader = { actor: 'owner@example.org' };
		assert.deepEqual(read, [reader, reader]);
		assert.deepEqual(browser.faults, []);
	});

	test('patients who are one are merged after a look at what moves, and told apart again', async () => {
		await using service = await testService();
		await withTraffic(service);
		await using browser = await consoleBrowser(service);
		const page = await browser.open({ viewport: { width: 1280, height: 900 } });
		await signInOnPage(service, page);

		await page.getByRole('link', { name: 'Identity' }).click();
		await page.getByRole('tab', { name: 'Same name and birth date' }).click();
		const found = page.getByRole('region', { name: 'Possible duplicate' });
		await found.getByText('4812').waitFor();
		await found.getByRole('link', { name: 'Merge…' }).click();
		const moves = page.getByRole('region', { name: 'What moves' });
		await moves.getByText('× Encounter').waitFor();
		await page.getByRole('button', { name: 'Merge…' }).click();
		await page.getByRole('dialog').getByRole('button', { name: 'Merge' }).click();
		await page.getByRole('heading', { level: 1, name: 'Lovemore, Ada' }).waitFor();
		await page.getByRole('region', { name: 'Identifiers' }).getByText('of a merged patient').waitFor();

		await page.getByRole('button', { name: 'Unmerge…' }).click();
		await page.getByRole('dialog').getByText('Encounter').waitFor();
		await page.getByRole('dialog').getByRole('button', { name: 'Unmerge' }).click();
		await page.getByText('of a merged patient').waitFor({ state: 'detached' });

		await page.getByRole('link', { name: 'Identity' }).click();
		await page.getByRole('tab', { name: 'Same name and birth date' }).click();
		await found.getByRole('button', { name: 'Not the same' }).click();
		await page.getByText('Nothing to review').waitFor();
		assert.deepEqual(browser.faults, []);
	});

	test('two names of an authority are joined after a look at who becomes one, and a message that waits is accepted', async () => {
		await using service = await testService();
		await withTraffic(service);
		await setSite(service.administration, { slug: 'north', mismatch: 'hold' });
		const other = (id: string, number: string, name: string, born: string) =>
			`${header('ADT^A04', id)}\rPID|1||${number}||${name}||${born}|M\r`;
		const acks = await send(
			service,
			other('six', '4711^^^OLDMRN', 'Lovemore^Ada', '19151210'),
			other('seven', '4812^^^MRN', 'Other^Otto', '19800101'),
		);
		assert.ok(acks.every((ack) => ack.includes('MSA|AA')));
		const step = {
			...{ sop_instance_uid: '1.2.826.0.1.7.9', study_uid: '1.2.826.0.1.7', status: 'IN PROGRESS' },
			attributes: {
				'00400270': { vr: 'SQ', Value: ['1.2.826.0.1.7', '1.2.826.0.1.8'].map((uid) => ({ '0020000D': { vr: 'UI', Value: [uid] } })) },
			},
		};
		const { key } = await createKey(service.administration, { site: 'north', owner: 'owner@example.org', label: '' });
		const reported = await fetch(`http://127.0.0.1:${service.port('mpps')}/ingest`, {
			method: 'POST',
			headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
			body: JSON.stringify(step),
		});
		assert.equal(reported.status, 200);
		await using browser = await consoleBrowser(service);
		const page = await browser.open({ viewport: { width: 1280, height: 900 } });
		await signInOnPage(service, page);

		await page.getByRole('link', { name: 'Identity' }).click();
		const dialog = page.getByRole('dialog');
		const doubt = page.getByRole('region', { name: 'Doubt' }).filter({ hasText: 'it is held until a person accepts it' });
		await doubt.getByRole('button', { name: 'Accept and apply…' }).click();
		await dialog.getByRole('button', { name: 'Accept and apply' }).click();
		await page.getByText('The message is applied.').waitFor();
		await doubt.waitFor({ state: 'detached' });
		await page.getByRole('tab', { name: 'Authorities' }).click();
		await page.getByRole('button', { name: 'Join two names' }).click();
		await dialog.getByLabel('Name whose patients survive').fill('MRN');
		await dialog.getByLabel('Other name').fill('OLDMRN');
		await dialog.getByLabel('Other name').press('Tab');
		await dialog.getByText('One pair of patients').waitFor();
		await dialog.getByRole('button', { name: 'Join' }).click();
		await page.getByText('One patient was merged').waitFor();
		await page.getByRole('button', { name: 'Separate…' }).click();
		await dialog.getByRole('button', { name: 'Separate' }).click();
		await page.getByText('not used any more').waitFor();

		await page.goto('/studies/north/1.2.826.0.1.7');
		await page.getByRole('region', { name: 'Procedure steps' }).getByRole('link', { name: '1.2.826.0.1.8' }).waitFor();
		await page.goto('/sites/north');
		const inForce = page.getByRole('region', { name: 'In force' });
		await inForce.getByText('hold').waitFor();
		await inForce.getByText('set here').first().waitFor();
		await service.rows("update site set move_state = 'left', move_peer = 'db2:5432/tributary', moved_at = now() where slug = 'north'");
		await page.reload();
		await page.getByText('It was moved to the database db2:5432/tributary. Nothing is taken for it here.').waitFor();
		assert.deepEqual(browser.faults, []);
	});

	test('a study is found and reported on; drafts are completed, and amended', async () => {
		await using service = await testService();
		await withTraffic(service);
		await using browser = await consoleBrowser(service);
		const page = await browser.open({ viewport: { width: 390, height: 844 } });
		await signInOnPage(service, page);
		const pages = ['/messages', '/failures', '/associations', '/patients', '/studies', '/reports', '/identity', '/conflicts'];
		for (const path of pages) {
			await page.goto(path);
			await page.getByRole('heading', { level: 1 }).waitFor();
			await page.locator('.loading').waitFor({ state: 'detached' });
			await assertFits(page);
		}
		await page.goto('/studies');
		await page.locator('[data-row-link]').first().click();
		await page.getByText('1.2.826.0.1.7', { exact: true }).waitFor();
		await assertFits(page);
		await page.getByRole('button', { name: 'Write a report' }).first().click();
		const dialog = page.getByRole('dialog');
		assert.equal(await dialog.getByLabel('Author').inputValue(), 'owner@example.org');
		await dialog.getByLabel('Title').fill('CT chest');
		await dialog.getByLabel('Text').fill('Lungs clear.');
		await dialog.getByRole('button', { name: 'Write' }).click();
		await page.getByRole('heading', { level: 1, name: 'CT chest' }).waitFor();
		await page.locator('.badge').getByText('draft', { exact: true }).waitFor();
		await page.getByRole('button', { name: 'Complete…' }).click();
		await dialog.getByRole('button', { name: 'Complete' }).click();
		await page.locator('.badge').getByText('completed', { exact: true }).waitFor();
		await page.getByRole('button', { name: 'Amend…' }).click();
		await dialog.getByLabel('Text').fill('Lungs clear. Heart enlarged.');
		await dialog.getByRole('button', { name: 'Amend' }).click();
		await page.getByText('amended', { exact: true }).first().waitFor();
		await page.getByText('Heart enlarged').first().waitFor();
		await assertFits(page);
		await page.locator('.facts').getByRole('link').first().click();
		await page.getByRole('heading', { level: 1 }).waitFor();
		assert.deepEqual(browser.faults, []);
	});
});
