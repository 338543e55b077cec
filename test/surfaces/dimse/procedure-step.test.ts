import assert from 'node:assert/strict';
import { test } from 'node:test';
import { associate, commandSet, data, responseOf, statusOf, textOf, value } from './peer.ts';
import { implicitLittleEndian, procedureStep, siteId, startSurface } from './support.ts';

const contexts = { contexts: { 1: [procedureStep, implicitLittleEndian] } } satisfies Parameters<typeof associate>[2];
const create = (uid: string | undefined, more: Record<number, number | string> = {}) =>
	commandSet({ 2: procedureStep, 256: 0x0140, 272: 4, 2048: 0, ...(uid === undefined ? {} : { 4096: uid }), ...more });
const set = (uid: string) => commandSet({ 3: procedureStep, 256: 0x0120, 272: 5, 2048: 0, 4097: uid });

/** An element in implicit VR little endian. */
function element(tag: number, content: string | Buffer): Buffer {
	const bytes = typeof content === 'string' ? Buffer.from(content.length % 2 === 0 ? content : `${content} `, 'latin1') : content;
	const head = Buffer.alloc(8);
	head.writeUInt16LE(tag >>> 16, 0);
	head.writeUInt16LE(tag & 0xffff, 2);
	head.writeUInt32LE(bytes.length, 4);
	return Buffer.concat([head, bytes]);
}

function item(content: Buffer): Buffer {
	const head = Buffer.from('feff00e000000000', 'hex');
	head.writeUInt32LE(content.length, 4);
	return Buffer.concat([head, content]);
}

const list = Buffer.concat([
	element(0x0008_0005, 'ISO_IR 100'),
	element(0x0008_1120, Buffer.alloc(0)),
	element(0x0010_0010, 'M\xfcller^J\xf6rg=x^y'),
	element(0x0010_0020, '4711'),
	element(0x0040_0252, 'IN PROGRESS'),
	element(0x0040_0270, item(element(0x0020_000d, '1.2.3.4\0'))),
	element(0x0040_0301, Buffer.from([7, 0, 8, 0])),
	element(0x0011_1001, Buffer.from([1, 2])),
]);

test('N-CREATE and N-SET hand on their attributes in the DICOM JSON Model', async (context) => {
	const { port, procedureSteps } = await startSurface(context);
	const peer = await associate(context, port, contexts);
	const [created] = await peer.ask(data(value(1, 'command', create('1.2.3')), value(1, 'data', list)));
	assert.ok(created);
	assert.equal(statusOf(created), 0);
	assert.equal(responseOf(created).get(0x0100)?.readUInt16LE(0), 0x8140);
	assert.equal(textOf(created, 0x1000), '1.2.3');
	const [changed] = await peer.ask(data(value(1, 'command', set('1.2.3')), value(1, 'data', element(0x0040_0252, 'COMPLETED'))));
	assert.ok(changed);
	assert.equal(responseOf(changed).get(0x0100)?.readUInt16LE(0), 0x8120);
	assert.equal(textOf(changed, 0x0002), procedureStep);
	assert.equal(textOf(changed, 0x1000), '1.2.3');
	const common = { siteId, siteSlug: 'west', clientId: undefined, settings: {}, source: '127.0.0.1', sopInstanceUid: '1.2.3' };
	assert.deepEqual(procedureSteps.requests, [
		{
			...common,
			operation: 'create',
			attributes: {
				'00080005': { vr: 'CS', Value: ['ISO_IR 192'] },
				'00081120': { vr: 'SQ' },
				'00100010': { vr: 'PN', Value: [{ Alphabetic: 'Müller^Jörg', Ideographic: 'x^y' }] },
				'00100020': { vr: 'LO', Value: ['4711'] },
				'00400252': { vr: 'CS', Value: ['IN PROGRESS'] },
				'00400270': { vr: 'SQ', Value: [{ '0020000D': { vr: 'UI', Value: ['1.2.3.4'] } }] },
				'00400301': { vr: 'US', Value: [7, 8] },
				'00111001': { vr: 'UN', InlineBinary: 'AQI=' },
			},
		},
		{ ...common, operation: 'set', attributes: { '00400252': { vr: 'CS', Value: ['COMPLETED'] } } },
	]);
});

test('the answer has the status, the error id and the comment of the service', async (context) => {
	const { port, procedureSteps, counted } = await startSurface(context);
	const peer = await associate(context, port, contexts);
	const answers = [
		{ status: 0x0106 },
		{ status: 0x0110, errorId: 0xa710, comment: 'Performed Procedure Step Object may no longer be updated' },
		{ status: 0x0111 },
		{ status: 0x0112 },
	];
	for (const expected of answers) {
		procedureSteps.answer = () => Promise.resolve(expected);
		const [answer] = await peer.ask(data(value(1, 'command', set('1.2.3')), value(1, 'data', list)));
		assert.ok(answer);
		assert.equal(statusOf(answer), expected.status);
		assert.equal(responseOf(answer).get(0x0903)?.readUInt16LE(0), expected.errorId);
		assert.equal(textOf(answer, 0x0902), expected.comment);
	}
	assert.equal(await counted('dimseMessages', { operation: 'N-SET', outcome: 'failure' }), 4);
});

test('N-CREATE without a UID is given one', async (context) => {
	const { port, procedureSteps } = await startSurface(context);
	const peer = await associate(context, port, contexts);
	const [answer] = await peer.ask(data(value(1, 'command', create(undefined)), value(1, 'data', list)));
	assert.ok(answer);
	assert.match(textOf(answer, 0x1000) ?? '', /^2\.25\.\d{1,39}$/);
	assert.equal(procedureSteps.requests[0]?.sopInstanceUid, textOf(answer, 0x1000));
});

const refusals: [string, number, Buffer, Buffer][] = [
	['a UID that is none', 0x0117, create('1.02'), list],
	['an N-SET of nothing', 0x0117, commandSet({ 3: procedureStep, 256: 0x0120, 272: 5, 2048: 0 }), list],
	['another SOP class', 0x0122, create('1.2', { 2: '1.2.840.10008.3.1.2.3.4' }), list],
	['N-GET', 0x0211, create('1.2', { 256: 0x0110 }), list],
	['an attribute list that is cut off', 0x0110, create('1.2'), list.subarray(0, -1)],
	['an attribute list that claims 4 GiB', 0x0110, create('1.2'), Buffer.from('10001000f0ffffff4142', 'hex')],
	['an attribute list over the limit', 0x0213, create('1.2'), Buffer.alloc(20_000)],
];
for (const [what, status, command, bytes] of refusals) {
	test(`refused: ${what}`, async (context) => {
		const { port, procedureSteps } = await startSurface(context, { limits: { dimseDataSetBytesMax: 10_000 } });
		const peer = await associate(context, port, contexts);
		const half = bytes.length >> 1;
		const [answer] = await peer.ask(
			Buffer.concat([
				data(value(1, 'command', command)),
				data(value(1, 'data', bytes.subarray(0, half), false)),
				data(value(1, 'data', bytes.subarray(half))),
			]),
		);
		assert.ok(answer);
		assert.equal(statusOf(answer), status);
		assert.equal(procedureSteps.requests.length, 0);
	});
}

test('N-CREATE without an attribute list is mistyped; a service that fails is a processing failure', async (context) => {
	const { port, procedureSteps } = await startSurface(context);
	const peer = await associate(context, port, contexts);
	const [empty] = await peer.ask(data(value(1, 'command', create('1.2', { 2048: 0x0101 }))));
	assert.ok(empty);
	assert.equal(statusOf(empty), 0x0212);
	procedureSteps.answer = () => Promise.reject(new Error('a fault of the program'));
	const [failed] = await peer.ask(data(value(1, 'command', create('1.2')), value(1, 'data', list)));
	assert.ok(failed);
	assert.equal(statusOf(failed), 0x0110);
	assert.equal(textOf(failed, 0x0902), 'the service is not available, send again');
});

test('long values and every digit are handed on', async (context) => {
	const { port, procedureSteps } = await startSurface(context);
	const peer = await associate(context, port, contexts);
	const long = Buffer.alloc(70_000, 7);
	const numbers = [element(0x0018_0060, '1.00\\120\\+001.50\\1e3'), element(0x0020_0013, '007\\7')];
	const sent = Buffer.concat([element(0x0011_1001, long), ...numbers, element(0x0040_0252, 'IN PROGRESS')]);
	const [created] = await peer.ask(data(value(1, 'command', create('1.2.9')), value(1, 'data', sent)));
	assert.equal(statusOf(created ?? assert.fail()), 0);
	const { attributes = {} } = procedureSteps.requests[0] ?? {};
	assert.deepEqual(attributes['00111001'], { vr: 'UN', InlineBinary: long.toString('base64') });
	assert.deepEqual(attributes['00180060'], { vr: 'DS', Value: ['1.00', 120, '+001.50', '1e3'] });
	assert.deepEqual(attributes['00200013'], { vr: 'IS', Value: ['007', 7] });
});
