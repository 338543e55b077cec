import { issuerOfSystem } from '#dicom/query/issuer.ts';
import type { ImagingClause, ImagingEntity, ImagingQuery, RetrievableInstance } from '#record/imaging-query.ts';
import type { Reader } from '#storage/reader.ts';
import { imagingQuery, retrievalKindsQuery, retrievalQuery } from '#storage/statements/search-imaging.ts';

export interface ImagingPage {
	entities: ImagingEntity[];
	/** The value of `after` for the next page; undefined when there is none. */
	next: readonly string[] | undefined;
}

/**
 * Returns a page of a query's results within the site, in the order of the unique keys.
 * @throws Failure `unavailable`
 */
export async function searchImaging(reader: Reader, siteId: string, query: ImagingQuery): Promise<ImagingPage> {
	const { attributes, count } = query;
	const { statement, values } = imagingQuery(siteId, query);
	const rows = await reader.run(statement, values);
	const shown = rows.slice(0, count);
	const entities = shown.map((cells) => {
		const entity: ImagingEntity = {};
		for (const [index, attribute] of attributes.entries()) {
			const value = cells[index] ?? null;
			entity[attribute] = attribute === 'IssuerOfPatientID' && value !== null ? shownIssuer(value, query.clauses) : value;
		}
		return entity;
	});
	const last = rows.length > count ? shown.at(-1) : undefined;
	return { entities, next: last?.slice(attributes.length) as string[] | undefined };
}

/**
 * Names an issuer as the query does, if it asks for one: an answer has a value that matches the key (PS3.4 C.2.2.2.1), also where the query
 * uses another name of the authority than the record.
 */
function shownIssuer(system: string, clauses: readonly ImagingClause[]): string | null {
	const key = clauses.find((clause) => clause.kind === 'equals' && clause.attribute === 'IssuerOfPatientID');
	const [asked, another] = key?.kind === 'equals' && !key.values.includes(system) ? (key.asked ?? []) : [];
	return asked !== undefined && another === undefined ? asked : (issuerOfSystem(system) ?? null);
}

export interface RetrievalPage {
	instances: RetrievableInstance[];
	/** The value of `after` for the next page; undefined when there is none. */
	next: readonly string[] | undefined;
}

/**
 * Returns instances of the site for which the clauses hold, by study, series and instance.
 * @throws Failure `unavailable`
 */
export async function findRetrievable(
	reader: Reader,
	siteId: string,
	clauses: readonly ImagingClause[],
	page: Pick<ImagingQuery, 'count' | 'after'>,
): Promise<RetrievalPage> {
	const { statement, values } = retrievalQuery(siteId, clauses, page);
	const rows = await reader.run(statement, values);
	const instances = rows.slice(0, page.count).map((cells) => {
		const [studyUid, seriesUid, sopInstanceUid, sopClassUid, transferSyntaxUid, objectKey, bytes] = cells as string[];
		return { studyUid, seriesUid, sopInstanceUid, sopClassUid, transferSyntaxUid, objectKey, bytes: Number(bytes) } as RetrievableInstance;
	});
	const last = rows.length > page.count ? instances.at(-1) : undefined;
	return { instances, next: last && [last.studyUid, last.seriesUid, last.sopInstanceUid] };
}

export interface RetrievalKind {
	sopClassUid: string;
	transferSyntaxUid: string;
	instances: number;
}

/** Returns the kinds of instances that the clauses select, the most frequent first. */
export async function retrievalKinds(reader: Reader, siteId: string, clauses: readonly ImagingClause[]): Promise<RetrievalKind[]> {
	const { statement, values } = retrievalKindsQuery(siteId, clauses);
	const rows = await reader.run(statement, values);
	return rows.map(([sopClassUid, transferSyntaxUid, instances]) => ({
		sopClassUid: String(sopClassUid),
		transferSyntaxUid: String(transferSyntaxUid),
		instances: Number(instances),
	}));
}
