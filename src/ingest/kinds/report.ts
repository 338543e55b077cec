import { Failure } from '#core/failure.ts';
import { elementsOf } from '#fhir/report.ts';
import type { ResourceResult } from '#record/apply/rows.ts';
import { fhirIdOf } from '#record/apply/rows.ts';
import type { ReportDelivery } from '#record/delivery.ts';
import type { ReportEdit, ReportEditOutcome } from '#record/report.ts';
import type { Interpretation } from '../interpretation.ts';
import { withheldBy } from '../withheld.ts';
import { defineDelivery, type InterpretContext } from './definition.ts';

/** A person's change to a report. The person gets the answer at once, and the history records the change. */
export const report = defineDelivery<'report'>({ kind: 'report', interpret, sourceName: () => 'report' });

function interpret(delivery: ReportDelivery, { limits: { reportBytesMax } }: InterpretContext): Interpretation<ReportEditOutcome> {
	return {
		messageType: 'REPORT',
		controlId: '',
		verdict: verdictOf(delivery, reportBytesMax),
		logged: 'never',
		answer: (_outcome, failure, { results }) => outcomeOf(failure, results[0]),
	};
}

function verdictOf(delivery: ReportDelivery, bytesMax: number): Interpretation['verdict'] {
	const withheld = withheldBy(delivery, 'the report could not be processed');
	if (withheld) return { kind: 'refuse', failure: withheld };
	if (delivery.bytes.length > bytesMax) {
		return { kind: 'refuse', failure: new Failure('too-large', `the report comes to more than ${bytesMax} bytes`) };
	}
	const edit = JSON.parse(Buffer.from(delivery.bytes).toString('utf8')) as ReportEdit;
	const patch = { elements: elementsOf(edit), parts: {} };
	return { kind: 'apply', changeSet: { changes: [{ kind: 'diagnostic-report-edit', edit, patch }], flags: [] } };
}

function outcomeOf(failure: Failure | undefined, result: ResourceResult | undefined): ReportEditOutcome {
	if (result?.row !== undefined && !failure) return { kind: 'written', id: fhirIdOf(result.row), version: result.row.version };
	return { kind: 'refused', diagnostics: failure?.diagnostics ?? 'the report could not be processed' };
}
