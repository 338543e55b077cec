import { parseExact } from '#core/json.ts';
import { searchset } from '#fhir/bundle.ts';
import { gradedMatches, readMatch } from '#fhir/match.ts';
import { outcomeOf } from '#fhir/operation-outcome.ts';
import { systemOf } from '#record/identity/identifier-key.ts';
import { actorOf } from '#record/report.ts';
import { matchCandidates } from '#storage/match-patients.ts';
import type { HttpAnswer } from '../http/message.ts';
import type { Interacting } from './context.ts';
import { operationBody } from './operation-parameters.ts';

/** A patient with a photo has some hundred kilobytes. It bounds what is parsed on the main thread. */
const bytesMax = 256 * 1024;
/** Patients that are compared, for each of the ways by which they are found. */
const candidatesMax = 100;

/**
 * Serves `Patient/$match` (https://hl7.org/fhir/R4/patient-operation-match.html): the patients of the site who may be the stated one, graded by
 * the rules by which messages find theirs. Nothing is written but an event of the audit trail.
 */
export async function match({ context, request, grant, definition, mediaType, base }: Interacting): Promise<HttpAnswer> {
	const { siteId } = grant;
	const asked = readMatch(operationBody(request, context.limits, bytesMax));
	const numbers = asked.numbers.map((number) => ({ system: systemOf(number), value: number.value }));
	const bounds = { rowsMax: candidatesMax, bytesMax: context.limits.searchBytesMax };
	const { candidates, cut } = await matchCandidates(context.reader, siteId, { numbers, person: asked.person }, bounds);
	const compared = [...candidates].map(([rowId, { stored, by }]) => ({ rowId, stored, by, resource: parseExact(stored.text) }));
	const matches = gradedMatches(asked, compared);
	const shown = matches.slice(0, asked.count);
	context.audit.recordAccess({
		...{ siteId, actor: actorOf(grant), source: request.source, requestId: request.requestId },
		...{ action: 'patient.match', subject: definition.type, kind: definition.type },
		detail: { status: 200, found: shown.length },
		patients: shown.map(({ rowId }) => rowId),
		studies: [],
	});
	const body = searchset({
		base,
		entries: shown.map(({ stored, graded }) => ({ type: definition.type, stored, mode: 'match', graded })),
		total: shown.length,
		self: `${base}/Patient/$match`,
		next: undefined,
		outcome: noticeOf(matches.length - shown.length, cut),
	});
	return { status: 200, headers: { 'Content-Type': mediaType }, body };
}

function noticeOf(further: number, cut: boolean): string | undefined {
	const texts = [
		...(further > 0 ? [`${further} further patients may match; count asks for more`] : []),
		...(cut ? ['more patients have such a name or number than are compared; state more of the patient'] : []),
	];
	return texts.length === 0 ? undefined : outcomeOf([{ severity: 'information', code: 'incomplete', diagnostics: texts.join('; ') }]);
}
