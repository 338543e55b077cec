import { type TextElement, writeDataSet } from '#dicom/data-set-writer.ts';
import { queryAttributes } from '#dicom/query/attributes.ts';
import { queryRetrieveLevel, questionOf } from '#dicom/query/information-model.ts';
import { planQuery } from '#dicom/query/plan.ts';
import type { ImagingAttribute, ImagingEntity } from '#record/imaging-query.ts';
import { statuses } from './command-set.ts';
import type { DimseContext } from './context.ts';
import { type Answer, type Inquiry, isRelational, queryRetrieve } from './query-retrieve.ts';
import type { Exchange, ServiceClass } from './service.ts';

const retrieveAeTitle = 0x0008_0054;
const instanceAvailability = 0x0008_0056;

/** The number of rows that are read from the index at a time. */
const pageRows = 200;
const relationalAndMoments = 2;

function elementsOf(entity: ImagingEntity): TextElement[] {
	return Object.entries(entity).map(([attribute, text]) => {
		const { tag, vr } = queryAttributes[attribute as ImagingAttribute];
		return { tag, vr, text: text ?? '' };
	});
}

async function find(context: DimseContext, { request, model, identifier }: Inquiry, exchange: Exchange): Promise<Answer> {
	const { extension, grant, transferSyntax, calledAe } = request;
	const { level, keys, hasUnknownKeys } = questionOf(model, identifier, { relational: isRelational(extension) });
	const { query, unsupported } = planQuery({ level, keys, combinesMoments: extension[1] === 1, count: pageRows });
	const own: TextElement[] = [
		{ tag: queryRetrieveLevel, vr: 'CS', text: level },
		{ tag: retrieveAeTitle, vr: 'AE', text: calledAe },
		...(identifier.elements.has(instanceAvailability) ? [{ tag: instanceAvailability, vr: 'CS', text: 'ONLINE' }] : []),
	];
	const status = hasUnknownKeys || unsupported.length > 0 ? statuses.pendingWithWarning : statuses.pending;
	let matches = 0;
	const studies = new Set<string>();
	let after: readonly string[] | undefined;
	do {
		const page = await context.archive.search(grant.siteId, { ...query, after });
		for (const entity of page.entities) {
			if (exchange.cancelled) return { status: statuses.cancelled, level, matches, studies };
			if (matches === context.limits.dimseFindMatchesMax) {
				return { status: statuses.outOfResources, comment: `more than ${matches} matches, ask more narrowly`, level, matches, studies };
			}
			const dataSet = writeDataSet([...own, ...elementsOf(entity)], transferSyntax, identifier.characterSet);
			await exchange.respond({ status, dataSet });
			matches += 1;
			if (entity.StudyInstanceUID) studies.add(entity.StudyInstanceUID);
			context.metrics.dimseMatches.inc();
		}
		after = page.next;
	} while (after !== undefined && !exchange.cancelled);
	return { status: exchange.cancelled ? statuses.cancelled : statuses.success, level, matches, studies };
}

/** Serves C-FIND (PS3.4 §C.4.1), with relational queries and combined datetime matching if they were agreed. */
export function findService(context: DimseContext): ServiceClass {
	return queryRetrieve(context, 'C-FIND', relationalAndMoments, (inquiry, exchange) => find(context, inquiry, exchange));
}
