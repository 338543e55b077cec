import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import { changeOf } from '#mpps/compose.ts';
import { type Operation, type State, stepOf } from '#mpps/machine.ts';
import { dimseStatusOf, MppsRefusal } from '#mpps/refusal.ts';
import { dimseReportOf, reportOf } from '#mpps/report.ts';
import { statusOf } from '#mpps/status.ts';
import { procedureSteps } from '#record/holdings/procedure-steps.ts';
import type { StepStatus } from '#record/procedure-step.ts';
import { fc, runs } from '#test/support/fuzzing.ts';
import { MemorySite } from '#test/support/memory-site.ts';

const [started, completed, discontinued] = ['IN PROGRESS', 'COMPLETED', 'DISCONTINUED'] as const;

describe('the state machine', () => {
	/** One line a state: what a report, N-CREATE and N-SET with each status come to. */
	const expected: [State, Operation, string, string, string][] = [
		['none', 'report', 'begin', 'late', 'late'],
		['none', 'create', 'begin', 'value', 'value'],
		['none', 'set', 'unknown', 'unknown', 'unknown'],
		[started, 'report', 'update', 'update', 'update'],
		[started, 'create', 'exists', 'exists', 'exists'],
		[started, 'set', 'update', 'update', 'update'],
		[completed, 'report', 'final', 'final', 'final'],
		[completed, 'create', 'exists', 'exists', 'exists'],
		[completed, 'set', 'final', 'final', 'final'],
		[discontinued, 'report', 'final', 'final', 'final'],
		[discontinued, 'create', 'exists', 'exists', 'exists'],
		[discontinued, 'set', 'final', 'final', 'final'],
	];
	for (const [state, operation, ...steps] of expected) {
		test(`${state}, ${operation}: ${steps.join(', ')}`, () => {
			const taken = [started, completed, discontinued].map((status) => {
				const step = stepOf(state, operation, status);
				return typeof step === 'string' ? step : step.refuse;
			});
			assert.deepEqual(taken, steps);
		});
	}
});

test('refusals are told in the statuses of DIMSE', () => {
	const told = (reason: ConstructorParameters<typeof MppsRefusal>[0]) => dimseStatusOf(new MppsRefusal(reason, 'told'));
	assert.equal(told('value').status, 0x0106);
	assert.deepEqual(told('final'), {
		status: 0x0110,
		errorId: 0xa710,
		comment: 'Performed Procedure Step Object may no longer be updated',
	});
	assert.equal(told('exists').status, 0x0111);
	assert.equal(told('unknown').status, 0x0112);
	assert.deepEqual([dimseStatusOf(new Failure('internal', 'x')).status, dimseStatusOf(undefined).errorId], [0x0110, undefined]);
	for (const reason of ['final', 'exists', 'unknown', 'other-study', 'value', 'missing', 'instance', 'size'] as const) {
		assert.match(told(reason).comment ?? '', /^[\x20-\x7e]{1,64}$/);
	}
});

test('a status is known in any case and with any separators, and nothing else is one', () => {
	const separators = fc.constantFrom('', ' ', '_', '-', '  ');
	fc.assert(
		fc.property(
			fc.constantFrom(started, completed, discontinued),
			separators,
			fc.infiniteStream(fc.boolean()),
			(status, separator, upper) => {
				const written = [...status.replace(' ', separator)].map((letter) => (upper.next().value ? letter : letter.toLowerCase())).join('');
				assert.equal(statusOf(written), status);
			},
		),
	);
	fc.assert(fc.property(fc.string(), (text) => statusOf(text) === undefined || /^[\s_-]*(in|com|dis)/i.test(text)));
});

interface Sent {
	operation: Operation;
	status: StepStatus | undefined;
	study: string;
	attributes: JsonObject;
}

/** What the contract and PS3.4 F.7 say, by itself: no table, no composing. */
class Model {
	status: StepStatus | undefined;
	study = '';
	attributes: JsonObject = {};
	late = false;
	reports = 0;
	#last = '';

	/** `taken`, `repeated`, or the reason of the refusal. */
	send({ operation, status, study, attributes }: Sent): string {
		const said = JSON.stringify([status, study, Object.entries(attributes).sort()]);
		if (operation === 'report' && this.#last === said) return 'repeated';
		if (operation === 'create') {
			if (this.status !== undefined) return 'exists';
			if (status !== started) return 'value';
		} else if (operation === 'set' && this.status === undefined) return 'unknown';
		else if (this.status === completed || this.status === discontinued) return 'final';
		else if (operation === 'report' && this.status !== undefined && this.study !== study) return 'other-study';
		this.late ||= this.status === undefined && status !== started;
		this.study ||= study;
		this.status = status ?? this.status;
		this.attributes = { ...this.attributes, ...attributes };
		this.reports++;
		this.#last = operation === 'report' ? said : '';
		return 'taken';
	}
}

const uid = '1.2.3';

function bodyOf({ operation, status, study, attributes }: Sent): JsonObject {
	if (operation === 'report') return { sop_instance_uid: uid, study_uid: study, status: status ?? '', attributes };
	const scheduled = { '00400270': { vr: 'SQ', Value: [{ '0020000D': { vr: 'UI', Value: [study] } }] } };
	return {
		sop_instance_uid: uid,
		attributes: {
			...attributes,
			...(status === undefined ? {} : { '00400252': { vr: 'CS', Value: [status] } }),
			...(operation === 'create' ? scheduled : {}),
		},
	};
}

/** What a site makes of a report; in the words of the model. */
function sendTo(site: MemorySite, sent: Sent, messageId: string): string {
	try {
		const body = bodyOf(sent);
		const report = sent.operation === 'report' ? reportOf(body) : dimseReportOf(sent.operation, body);
		const change = changeOf(report, {
			...{ messageId, source: 'test', bytesMax: 10_000, namedPatient: () => undefined },
			times: { complete: (local) => local, flags: () => [] },
		});
		const { stepReports } = site.apply({ changes: [change], flags: [] });
		return stepReports[0]?.repeats === undefined ? 'taken' : 'repeated';
	} catch (error) {
		if (error instanceof MppsRefusal) return error.reason;
		throw error;
	}
}

const statuses = fc.constantFrom(started, completed, discontinued);
const attributes = fc.dictionary(fc.constantFrom('a', 'b'), fc.integer({ min: 0, max: 1 }), { noNullPrototype: true });
const sending: fc.Arbitrary<Sent> = fc.oneof(
	fc.record({ operation: fc.constant('report' as const), status: statuses, study: fc.constantFrom('1.2', '1.2', '1.3'), attributes }),
	fc.record({ operation: fc.constant('create' as const), status: statuses, study: fc.constant('1.2'), attributes }),
	fc.record({
		operation: fc.constant('set' as const),
		status: fc.option(statuses, { nil: undefined }),
		study: fc.constant(''),
		attributes,
	}),
);

test('any sequence of reports, N-CREATE and N-SET does what the standard and the contract say', () => {
	const seen = new Set<string>();
	fc.assert(
		fc.property(fc.array(sending, { maxLength: 12 }), (sequence) => {
			const site = new MemorySite();
			const model = new Model();
			for (const [index, sent] of sequence.entries()) {
				const id = site.set.of(procedureSteps).step(uid)?.id;
				const outcome = model.send(sent);
				seen.add(`${sent.operation} ${outcome}`);
				assert.equal(sendTo(site, sent, `m${index}`), outcome);
				const session = site.set.of(procedureSteps).step(uid);
				assert.deepEqual([session?.status, session?.reports ?? 0], [model.status, model.reports]);
				if (session === undefined) continue;
				assert.deepEqual([session.studyUid, session.late], [model.study, model.late]);
				assert.ok(id === undefined || id === session.id, 'the id of the session stays');
				const held = JSON.parse(session.attributes);
				for (const name of ['a', 'b']) assert.equal(held[name], model.attributes[name]);
				assert.equal(site.set.of(procedureSteps).reports.length, model.reports, 'the history has every accepted report, and no other');
			}
		}),
		{ numRuns: runs(2000) },
	);
	for (const outcome of [
		...['report taken', 'report repeated', 'report final', 'report other-study'],
		...['create taken', 'create exists', 'create value', 'set taken', 'set unknown', 'set final'],
	]) {
		assert.ok(seen.has(outcome), outcome);
	}
});
