import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setKey } from '#administration/keys.ts';
import { showContent } from '#administration/message-edit.ts';
import { messageRow, replayMessage } from '#administration/messages.ts';
import { type TestService, testService } from '#test/support/service.ts';

let service: TestService;
let key: string;
const keyId = (text: string) => text.split('_')[1] ?? '';

before(async () => {
	service = await testService();
	({ key } = await service.addSite('north'));
});

after(() => service[Symbol.asyncDispose]());

/** `family` is sent in bytes of ISO 8859-2, in which £ of Latin-1 is Ł. */
const message = (id: string, { charset = '', type = 'ADT^A08', family = '\xa3ukasz' } = {}) =>
	[`MSH|^~\\&|APP|FAC|R|RF|20260101120000||${type}|${id}|P|2.5.1||||||${charset}`, `PID|1||${id}||${family}^Jan`, ''].join('\r');

async function post(bytes: string, type: string): Promise<{ status: number; body: { ack?: string; error?: string } }> {
	const answer = await fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, {
		method: 'POST',
		headers: { 'X-API-Key': key, 'Content-Type': type },
		body: Buffer.from(bytes, 'latin1'),
	});
	return { status: answer.status, body: (await answer.json()) as { ack?: string; error?: string } };
}

async function familyOf(id: string): Promise<string | undefined> {
	const { body } = await service.fhir(`/fhir/Patient?identifier=${encodeURIComponent(id)}`, key);
	return body.entry[0]?.resource.name[0].family;
}

interface Logged {
	id: string;
	flags: { code: string }[] | null;
	settings: { charset?: string } | null;
}

async function logged(controlId: string): Promise<Logged> {
	const [row] = await service.rows<Logged>('select id, flags, settings from message_log where control_id = $1', [controlId]);
	return row ?? assert.fail('nothing was logged');
}

const isAssumed = ({ flags }: Logged) => (flags ?? []).some(({ code }) => code === 'charset-assumed');

describe('a message whose Content-Type names its charset', () => {
	test('is read in it where MSH-18 is empty, and so are its log and its answer', async () => {
		assert.equal((await post(message('1'), 'text/plain; charset=ISO-8859-2')).status, 200);
		assert.equal(await familyOf('1'), 'Łukasz');
		const row = await logged('1');
		assert.deepEqual([row.settings?.charset, isAssumed(row)], ['ISO-8859-2', false]);
		const { body } = await post(message('\xa31', { charset: '""' }), 'text/plain; charset="iso-8859-2"');
		assert.match(body.ack ?? '', /MSA\|AA\|Ł1/);
		await post(message('utf', { family: '\xc5\x81ukasz' }), 'application/hl7-v2; charset=utf-8');
		assert.deepEqual([await familyOf('utf'), isAssumed(await logged('utf'))], ['Łukasz', false]);
	});

	test('is read by MSH-18, a byte order mark or the setting of its sender where it has one', async () => {
		await post(message('2', { charset: '8859/1' }), 'text/plain; charset=iso-8859-2');
		assert.equal(await familyOf('2'), '£ukasz');
		await post(`\xef\xbb\xbf${message('3', { family: '\xc5\x81ukasz' })}`, 'text/plain; charset=iso-8859-2');
		assert.equal(await familyOf('3'), 'Łukasz');
		await setKey(service.administration, { id: keyId(key), charset: '8859/1' });
		await post(message('4'), 'text/plain; charset=iso-8859-2');
		assert.equal(await familyOf('4'), '£ukasz');
		await setKey(service.administration, { id: keyId(key), charset: '' });
	});

	test('is read in it again when it is replayed', async () => {
		assert.equal((await post(message('5', { type: 'ADT^A28' }), 'text/plain; charset=iso-8859-2')).status, 422);
		const { id } = await logged('5');
		assert.match((await showContent(service.administration, await messageRow(service.administration, id))).text, /Łukasz/);
		await setKey(service.administration, { id: keyId(key), also: ['A28'] });
		assert.equal((await replayMessage(service.administration, id)).outcome, 'accepted');
		assert.equal(await familyOf('5'), 'Łukasz');
	});

	test('is read as before where no charset is named', async () => {
		await post(message('6'), 'text/plain');
		assert.deepEqual([await familyOf('6'), isAssumed(await logged('6'))], ['£ukasz', true]);
	});
});
