import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Failure } from '#core/failure.ts';
import type { Archive } from '#imaging/archive.ts';
import type { ImagingQuery } from '#record/imaging-query.ts';
import type { OutgoingRequest } from '#surfaces/dimse/command-set.ts';
import { element, sequence } from '#test/support/data-set.ts';
import { acceptOf, associateRequest, commandSet, connect, data, echo, releaseRequest, statusOf, textOf, value } from './peer.ts';
import {
	allResponses,
	ask,
	cancel,
	extension,
	identifier,
	oneStudy,
	questionContexts,
	role,
	startArchive,
	studyFind,
} from './questions.ts';
import { ctImage, explicitLittleEndian, implicitLittleEndian, siteId, startSurface, verification } from './support.ts';

const found: Archive['search'] = () =>
	Promise.resolve({ entities: [{ StudyInstanceUID: '1.2', PatientName: 'Łovelace' }], next: undefined });

/** Always one more. */
const endless: Archive['search'] = async () => {
	await setImmediate();
	return { entities: [{ StudyInstanceUID: '1.2' }], next: ['1.2'] };
};

describe('C-FIND', () => {
	test('asks the archive of the site, and answers in the context with level and retrieve AE title', async (context) => {
		const asked: [string, ImagingQuery][] = [];
		const search: Archive['search'] = (site, query) => {
			asked.push([site, query]);
			return found(site, query);
		};
		const { peer, answered, counted } = await startArchive(context, { search });
		peer.write(ask(1, identifier([0x0008_0052, 'CS', 'STUDY'], [0x0008_0056, 'CS', ''], [0x0010_0010, 'PN', 'l*'])));
		const [match, last] = await allResponses(peer);
		assert.equal(statusOf(match?.command ?? assert.fail()), 0xff00);
		assert.deepEqual(
			match?.dataSet,
			Buffer.concat([
				element(0x0008_0005, 'CS', 'ISO_IR 192'),
				element(0x0008_0052, 'CS', 'STUDY'),
				element(0x0008_0054, 'AE', 'WEST'),
				element(0x0008_0056, 'CS', 'ONLINE'),
				element(0x0010_0010, 'PN', Buffer.from('Łovelace ')),
				element(0x0020_000d, 'UI', '1.2'),
			]),
		);
		assert.equal(statusOf(last?.command ?? assert.fail()), 0);
		assert.equal(asked[0]?.[0], siteId);
		assert.deepEqual(asked[0]?.[1].clauses, [{ kind: 'like', attribute: 'PatientName', patterns: ['l*'], group: 0 }]);
		const event = { operation: 'C-FIND', siteId, clientId: undefined, callingAe: 'CT1', address: '127.0.0.1', model: 'study-root' };
		assert.deepEqual(answered, [{ ...event, level: 'STUDY', settings: {}, studies: new Set(['1.2']), status: 0, matches: 1 }]);
		assert.equal(await counted('dimseMessages', { operation: 'C-FIND', outcome: 'success' }), 1);
		assert.equal(await counted('dimseMatches'), 1);
	});

	test('in implicit VR is answered in implicit VR', async (context) => {
		const contexts: typeof questionContexts = { 1: [studyFind, '1.2.840.10008.1.2.2', implicitLittleEndian] };
		const { peer } = await startArchive(context, { search: found }, {}, { contexts, user: [] });
		const writing = { explicit: false, littleEndian: true };
		peer.write(ask(1, Buffer.concat([element(0x0008_0052, 'CS', 'STUDY', writing), element(0x0010_0010, 'PN', '', writing)])));
		const [match] = await allResponses(peer);
		assert.ok(match?.dataSet?.includes(element(0x0008_0054, 'AE', 'WEST', writing)));
	});

	test('says of keys that are not supported that they are not', async (context) => {
		const { peer } = await startArchive(context, { search: found });
		for (const key of [
			[0x0010_1010, 'AS', ''],
			[0x0008_0060, 'CS', 'CT'],
		] as [number, string, string][]) {
			peer.write(ask(1, identifier([0x0008_0052, 'CS', 'STUDY'], key)));
			const [match, last] = await allResponses(peer);
			assert.deepEqual([statusOf(match?.command ?? assert.fail()), statusOf(last?.command ?? assert.fail())], [0xff01, 0]);
		}
	});

	test('is cancelled, and another request follows', async (context) => {
		const { peer, answered } = await startArchive(context, { search: endless }, { limits: { dimseFindMatchesMax: 1_000_000 } });
		peer.write(ask(1, oneStudy));
		await peer.next();
		peer.write(cancel(1));
		const messages = [await peer.next(), ...(await allResponses(peer)).map(({ command }) => command)];
		assert.equal(statusOf(messages.at(-1) ?? assert.fail()), 0xfe00);
		assert.equal(answered[0]?.status, 0xfe00);
		// Too late, and so without any effect.
		peer.write(cancel(1));
		peer.write(releaseRequest);
		assert.equal((await peer.next()).type, 6);
	});

	test('with more matches than the limit ends with 0xA700', async (context) => {
		const { peer } = await startArchive(context, { search: endless }, { limits: { dimseFindMatchesMax: 3 } });
		peer.write(ask(1, oneStudy));
		const messages = await allResponses(peer);
		const last = messages.at(-1)?.command ?? assert.fail();
		assert.deepEqual([messages.length, statusOf(last), textOf(last, 0x0902)], [4, 0xa700, 'more than 3 matches, ask more narrowly']);
	});

	test('fails by what is wrong with it', async (context) => {
		const search: Archive['search'] = () => Promise.reject(new Failure('unavailable', 'the database does not answer'));
		const { peer, counted } = await startArchive(context, { search }, { limits: { dimseDataSetBytesMax: 2000 } });
		const level: [number, string, string] = [0x0008_0052, 'CS', 'STUDY'];
		for (const [status, question] of [
			[0xa700, oneStudy],
			[0xc001, oneStudy.subarray(0, -3)],
			[0xa900, identifier([0x0008_0052, 'CS', 'PATIENT'])],
			[0xa900, identifier([0x0020_000d, 'UI', '1.2'])],
			[0xa900, identifier([0x0008_0020, 'DA', 'today'], level)],
			[0xa700, identifier(level, [0x0008_1030, 'LO', 'x'.repeat(3000)])],
		] as const) {
			peer.write(ask(1, question));
			const [last] = await allResponses(peer);
			assert.equal(statusOf(last?.command ?? assert.fail()), status);
		}
		assert.equal(await counted('dimseMessages', { operation: 'C-FIND', outcome: 'failure' }), 6);
	});

	test('needs the unique keys of the levels above, unless relational queries were agreed', async (context) => {
		const question = identifier([0x0008_0052, 'CS', 'SERIES'], [0x0020_000e, 'UI', '']);
		const strict = await startArchive(context, { search: found });
		strict.peer.write(ask(1, question));
		assert.equal(statusOf((await allResponses(strict.peer)).at(-1)?.command ?? assert.fail()), 0xa900);
		const { port } = strict;
		const peer = await connect(context, port);
		const [accept] = await peer.ask(associateRequest({ contexts: questionContexts, user: [extension(studyFind, 1, 1, 1, 1)] }));
		const agreed = acceptOf(accept ?? assert.fail()).user.get(0x56)?.[0];
		assert.deepEqual(agreed?.subarray(2 + studyFind.length), Buffer.from([1, 1, 0, 0]));
		peer.write(ask(1, question));
		assert.equal(statusOf((await allResponses(peer)).at(-1)?.command ?? assert.fail()), 0);
	});

	test('lets the answer to a report through that was sent before, and sends none meanwhile', async (context) => {
		const commitment = '1.2.840.10008.1.20.1';
		const { peer, commitment: service } = await startArchive(
			context,
			{ search: endless },
			{ limits: { dimseFindMatchesMax: 1_000_000 } },
			{ contexts: { ...questionContexts, 9: [commitment, explicitLittleEndian] } },
		);
		const reported: (number | undefined)[] = [];
		const report: OutgoingRequest = { operation: 'N-EVENT-REPORT', sopClassUid: commitment, sopInstanceUid: '1.2', eventTypeId: 1 };
		service.answer = async () => (channel) => {
			const again = (status: number | undefined) => {
				reported.push(status);
				if (reported.length < 2) channel.request(report, Buffer.alloc(8)).then(again);
			};
			channel.request(report, Buffer.alloc(8)).then(again);
		};
		const references = sequence(0x0008_1199, [identifier([0x0008_1150, 'UI', ctImage], [0x0008_1155, 'UI', '1.1'])]);
		const action = commandSet({ 3: commitment, 256: 0x0130, 272: 7, 2048: 0, 4097: '1.2.840.10008.1.20.1.1', 4104: 1 });
		const information = Buffer.concat([element(0x0008_1195, 'UI', '1.2.3'), references]);
		await peer.ask(data(value(9, 'command', action), value(9, 'data', information)), 3);
		peer.write(ask(1, oneStudy));
		await peer.next();
		peer.write(data(value(9, 'command', commandSet({ 256: 0x8100, 288: 1, 2048: 0x0101, 2304: 0 }))));
		while (reported.length < 2) await setImmediate();
		assert.deepEqual(reported, [0, undefined]);
		peer.write(cancel(1));
		const last = [await peer.next(), ...(await allResponses(peer)).map(({ command }) => command)].at(-1);
		assert.equal(statusOf(last ?? assert.fail()), 0xfe00);
	});

	test('takes no other request meanwhile', async (context) => {
		const { peer } = await startArchive(
			context,
			{ search: endless },
			{},
			{ contexts: { ...questionContexts, 9: [verification, explicitLittleEndian] } },
		);
		peer.write(ask(1, oneStudy), data(value(9, 'command', echo(10))));
		let received = await peer.next();
		while (received.type === 4) received = await peer.next();
		assert.equal(received.type, 7);
	});
});

describe('the grant', () => {
	test('without it the presentation contexts are rejected, and those of storage are not', async (context) => {
		const { port } = await startSurface(context);
		const peer = await connect(context, port);
		const [accept] = await peer.ask(associateRequest({ contexts: questionContexts, user: [role(ctImage, 1, 1)] }));
		const { contexts, user } = acceptOf(accept ?? assert.fail());
		assert.deepEqual(
			Object.values(contexts).map(([result]) => result),
			[1, 1, 1, 0],
		);
		assert.deepEqual(user.get(0x54)?.[0]?.subarray(-2), Buffer.from([1, 0]));
		const other = await connect(context, port);
		const [answer] = await other.ask(associateRequest({ contexts: { 7: [ctImage, explicitLittleEndian] }, user: [role(ctImage, 0, 1)] }));
		assert.deepEqual(acceptOf(answer ?? assert.fail()).contexts, { 7: [1, implicitLittleEndian] });
	});

	test('that is taken away ends the queries of an open association', async (context) => {
		const { peer, directory } = await startArchive(context, { search: found });
		directory.grants.delete('query');
		peer.write(ask(1, oneStudy));
		assert.equal(statusOf(await peer.next()), 0x0124);
	});
});
