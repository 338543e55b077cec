import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { changeOf } from '#mpps/compose.ts';
import { factsOf } from '#mpps/facts.ts';
import { MppsRefusal } from '#mpps/refusal.ts';
import { dimseReportOf, reportOf } from '#mpps/report.ts';
import type { ComposedStep } from '#record/kinds/step-report.ts';
import type { ProcedureStep } from '#record/procedure-step.ts';
import { fc, runs } from '#test/support/fuzzing.ts';
import { MemorySite } from '#test/support/memory-site.ts';

const uid = '1.2.840.99.1';
const element = (vr: string, ...values: unknown[]) => ({ vr, Value: values }) as JsonObject;
const facts = (attributes: JsonObject) => factsOf(attributes, settings.times);
const study = (value: string) => ({ '00400270': element('SQ', { '0020000D': element('UI', value) }) });
const status = (value: string) => ({ '00400252': element('CS', value) });
const settings = {
	messageId: 'm',
	source: 'test',
	bytesMax: 100_000,
	times: { complete: (local: string) => `${local}+01:00`, flags: () => [] },
	namedPatient: () => undefined,
};

function reasonOf(work: () => unknown): string {
	try {
		work();
	} catch (error) {
		if (error instanceof MppsRefusal) return error.reason;
		throw error;
	}
	return 'none';
}

describe('N-CREATE and N-SET', () => {
	const create = (attributes: JsonObject, sopInstanceUid = uid) =>
		dimseReportOf('create', { sop_instance_uid: sopInstanceUid, attributes });

	test('take status and study of the data set', () => {
		const report = create({ ...status('IN PROGRESS'), ...study('1.2.3') });
		assert.deepEqual([report.status, report.studyUid, report.sopInstanceUid], ['IN PROGRESS', '1.2.3', uid]);
		const set = dimseReportOf('set', { sop_instance_uid: uid, attributes: {} });
		assert.deepEqual([set.status, set.studyUid], [undefined, undefined]);
	});

	test('are refused without what is required, and with values that are not allowed', () => {
		const whole = { ...status('IN PROGRESS'), ...study('1.2.3') };
		assert.equal(
			reasonOf(() => create(status('IN PROGRESS'))),
			'missing',
		);
		assert.equal(
			reasonOf(() => create(study('1.2.3'))),
			'missing',
		);
		assert.equal(
			reasonOf(() => create({ ...whole, ...status('SCHEDULED') })),
			'value',
		);
		assert.equal(
			reasonOf(() => create({ ...whole, ...study('1.02') })),
			'value',
		);
		// ITU-T X.660 knows the root arcs 0 to 2.
		assert.deepEqual(
			[reasonOf(() => create({ ...whole, ...study('3.2') })), reasonOf(() => create(whole, '3.2.1'))],
			['value', 'instance'],
		);
		assert.equal(
			reasonOf(() => create(whole, '1.02.3')),
			'instance',
		);
		assert.equal(
			reasonOf(() => create(whole)),
			'none',
		);
	});

	test('tell a required attribute that is not there from one without a value, and refuse another instance', () => {
		const whole = { ...status('IN PROGRESS'), ...study('1.2.3') };
		const reasons = (...lists: JsonObject[]) => lists.map((attributes) => reasonOf(() => create(attributes)));
		const steps = (...items: JsonObject[]) => ({ '00400270': element('SQ', ...items) });
		assert.deepEqual(reasons({ ...whole, '00400252': { vr: 'CS' } }, { ...whole, '00400270': { vr: 'SQ' } }), ['empty', 'empty']);
		assert.deepEqual(reasons({ ...whole, ...steps({}) }, { ...whole, ...steps({ '0020000D': { vr: 'UI' } }) }), ['missing', 'empty']);
		assert.deepEqual(reasons({ ...whole, '00080018': element('UI', uid) }, { ...whole, '00080018': element('UI', '1.9') }), [
			'none',
			'value',
		]);
	});

	function afterSet(start: JsonObject, modification: JsonObject): { session: ProcedureStep; flags: string[] } {
		const site = new MemorySite();
		site.apply({ changes: [changeOf(create({ ...status('IN PROGRESS'), ...study('1.2.3'), ...start }), settings)], flags: [] });
		const set = dimseReportOf('set', { sop_instance_uid: uid, attributes: modification });
		const { flags, stepReports } = site.apply({ changes: [changeOf(set, settings)], flags: [] });
		return { session: stepReports[0]?.step ?? assert.fail('no session'), flags: flags.map(({ code }) => code) };
	}

	test('may have UIDs with leading zeros for a lenient sender', () => {
		const lenient = (sopInstanceUid: string, studyUid: string) =>
			reasonOf(() =>
				dimseReportOf(
					'create',
					{ sop_instance_uid: sopInstanceUid, attributes: { ...status('IN PROGRESS'), ...study(studyUid) } },
					'lenient',
				),
			);
		assert.deepEqual([lenient('1.02.3', '01.2.03'), lenient('1.02.x', '1.2'), lenient('3.02', '1.2')], ['none', 'instance', 'instance']);
	});

	test('N-SET changes what it names and leaves the rest', () => {
		const series = element('SQ', { '0020000E': element('UI', '1.2.3.4') });
		const { session, flags } = afterSet(
			{ '00100020': element('LO', '4711'), '00400254': element('LO', 'Chest') },
			{ ...status('COMPLETED'), '00400340': series, '00400254': element('LO', 'Chest and neck') },
		);
		assert.deepEqual([session.status, session.facts?.patientId, session.facts?.seriesUids], ['COMPLETED', '4711', ['1.2.3.4']]);
		assert.deepEqual(JSON.parse(session.attributes)['00400254'], element('LO', 'Chest and neck'));
		assert.deepEqual(flags, []);
	});

	test('N-SET cannot change who the patient is; it may fill in what the start left empty', () => {
		const { session, flags } = afterSet(
			{ '00100020': element('LO', '4711'), '00400242': { vr: 'SH' } },
			{ '00100020': element('LO', '4712'), '00400242': element('SH', 'CT01') },
		);
		assert.deepEqual([session.facts?.patientId, session.facts?.stationName], ['4711', 'CT01']);
		assert.deepEqual(flags, ['not-settable']);
	});

	test('N-SET of another study is refused', () => {
		assert.equal(
			reasonOf(() => afterSet({}, study('1.2.4'))),
			'other-study',
		);
		assert.equal(
			reasonOf(() => afterSet({}, study('1.2.3'))),
			'none',
		);
	});
});

describe('attributes', () => {
	test('are read where they are elements of the DICOM JSON Model, and never else', () => {
		assert.equal(facts({ '00100010': element('PN', { Ideographic: '山田^太郎' }) }).patientName, '山田^太郎');
		assert.equal(facts({ '00100010': element('PN', 'Plain^Name') }).patientName, 'Plain^Name');
		assert.equal(facts({ '00100020': element('LO', 12) }).patientId, '12');
		assert.equal(facts({ '00100020': 'x' }).patientId, null);
		assert.equal(facts({ '00100020': { vr: 'LO', Value: 'x' } }).patientId, null);
		assert.equal(facts({ '00100020': element('LO', ' \u0000 ') }).patientId, null);
		assert.equal(facts({ '00400244': element('DA', '20260230') }).started, null);
		assert.equal(facts({ '00400250': element('DA', '20260105') }).ended, '2026-01-05');
		assert.ok((facts({ '00100020': element('LO', 'x'.repeat(10_000)) }).patientId?.length ?? 0) < 300);
	});

	test('whatever they are, a report is taken or refused, and what is stored is what was sent', () => {
		const tag = fc.constantFrom(
			'00080050',
			'00080060',
			'00100010',
			'00100020',
			'00400244',
			'00400252',
			'00400270',
			'00400340',
			'0020000D',
			'x',
		);
		const leaf = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.constantFrom('COMPLETED', '1.2.3', '20260105'));
		const { node } = fc.letrec((tie) => ({
			value: fc.oneof({ maxDepth: 3 }, leaf, tie('node')),
			item: fc.record(
				{ vr: fc.constantFrom('SQ', 'LO', 'PN', 'UI'), Value: fc.array(tie('value'), { maxLength: 3 }) },
				{ requiredKeys: [] },
			),
			node: fc.dictionary(tag, fc.oneof(tie('item'), leaf), { maxKeys: 4, noNullPrototype: true }),
		}));
		let taken = 0;
		fc.assert(
			fc.property(node as fc.Arbitrary<JsonObject>, (attributes) => {
				const body = { sop_instance_uid: uid, study_uid: '1.2.3', status: 'COMPLETED', attributes };
				let composed: ComposedStep | 'repeated';
				try {
					composed = changeOf(reportOf(body), settings).compose(undefined);
				} catch (error) {
					assert.ok(error instanceof MppsRefusal, String(error));
					assert.match(error.diagnostics, /contradicts/);
					return;
				}
				taken++;
				assert.ok(composed !== 'repeated');
				assert.deepEqual(JSON.parse(composed.attributes), JSON.parse(JSON.stringify(attributes)));
			}),
			{ numRuns: runs(2000) },
		);
		assert.ok(taken > 500, `${taken} taken`);
	});
});
