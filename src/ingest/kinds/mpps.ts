import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import type { Log } from '#core/log.ts';
import { LocalZone, senderZone } from '#fhir/mapping/local-zone.ts';
import { parseResourceJson } from '#fhir/validation/json.ts';
import { changeOf } from '#mpps/compose.ts';
import { factsOf } from '#mpps/facts.ts';
import { dimseStatusOf, MppsRefusal } from '#mpps/refusal.ts';
import { dimseReportOf, reportOf, type SentStepReport } from '#mpps/report.ts';
import { idsOf, type MppsAnswer, type MppsDelivery, type Outcome } from '#record/delivery.ts';
import type { StepReportResult } from '#record/procedure-step.ts';
import { readingSettings, settingOf } from '#record/settings/settings.ts';
import { namedPatient } from '../data-set-patient.ts';
import type { Interpretation } from '../interpretation.ts';
import type { IngestLimits } from '../limits.ts';
import { withheldBy } from '../withheld.ts';
import { defineDelivery, type InterpretContext } from './definition.ts';

/** A report about a procedure step. */
export const mpps = defineDelivery<'mpps'>({
	kind: 'mpps',
	interpret,
	// The procedure step decides what a repeated report means.
	recognisedBy: 'delivery',
	replay: ({ messageType }) => ({
		kind: 'mpps',
		operation: messageType === createType ? 'create' : messageType === setType ? 'set' : 'report',
	}),
});

const createType = 'MPPS N-CREATE';
const setType = 'MPPS N-SET';

function interpret(delivery: MppsDelivery, context: InterpretContext): Interpretation<MppsAnswer> {
	const read = reportIn(delivery, context.limits, context.log);
	return {
		messageType: messageTypeOf(delivery, read),
		controlId: read instanceof Failure ? '' : read.sopInstanceUid,
		verdict: read instanceof Failure ? { kind: 'refuse', failure: read } : verdictOf(read, delivery, context),
		logged: 'always',
		answer: (outcome, failure, { stepReports }) => answerOf(delivery, outcome, failure, stepReports),
	};
}

function reportIn(delivery: MppsDelivery, limits: IngestLimits, log: Log): SentStepReport | Failure {
	try {
		const withheld = withheldBy(delivery, 'the report could not be processed');
		if (withheld) throw withheld;
		if (delivery.bytes.length > limits.mppsBytesMax)
			throw new MppsRefusal('size', `the report is longer than ${limits.mppsBytesMax} bytes`);
		const body: JsonObject = parseResourceJson(delivery.bytes, { depthMax: limits.jsonDepthMax });
		const rule = settingOf(delivery.settings, 'uids');
		return delivery.operation === 'report' ? reportOf(body, rule) : dimseReportOf(delivery.operation, body, rule);
	} catch (error) {
		if (error instanceof Failure) return error;
		log.error({ err: error, ...idsOf(delivery) }, 'report could not be interpreted');
		return new Failure('internal', 'the report could not be interpreted', { cause: error });
	}
}

function verdictOf(
	report: SentStepReport,
	{ id, surface, source, settings }: MppsDelivery,
	{ limits: { mppsBytesMax }, hostTimeZone }: InterpretContext,
): Interpretation['verdict'] {
	const zone = senderZone(settings, hostTimeZone);
	const change = changeOf(report, {
		...{ messageId: id, source: `${surface}:${source}`, bytesMax: mppsBytesMax },
		times: new LocalZone(zone),
		namedPatient: (stated) => namedPatient(stated, settings.default_authority),
	});
	const own = new LocalZone(zone);
	factsOf(report.attributes, own);
	const readBy = readingSettings(settings, own.isUsed ? zone.name : undefined);
	return { kind: 'apply', changeSet: { changes: [change], flags: [], ...(readBy && { readBy }) } };
}

function messageTypeOf({ operation }: MppsDelivery, read: SentStepReport | Failure): string {
	if (operation !== 'report') return operation === 'create' ? createType : setType;
	return read instanceof Failure || read.status === undefined ? 'MPPS' : `MPPS ${read.status}`;
}

function answerOf(
	{ operation }: MppsDelivery,
	outcome: Outcome,
	failure: Failure | undefined,
	stepReports: readonly StepReportResult[],
): MppsAnswer {
	const refused = outcome === 'refused';
	if (operation !== 'report') return refused ? dimseStatusOf(failure) : { status: 0x0000 };
	if (refused) return { success: false, error: failure?.diagnostics ?? 'the report was refused' };
	const [result] = stepReports;
	if (result === undefined) throw new Error('an accepted report has no procedure step');
	return { success: true, session_id: result.step.id };
}
