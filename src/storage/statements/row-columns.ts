import type { Extent } from '#record/search-plan.ts';
import { noStudyColumns, studyBytes, studyColumns, studyText } from './render-study.ts';
import { shortText, wholeText } from './stored-text.ts';

/** The way in which rows of a table become resources: most keep the text, studies are rendered from the index of images. */
interface Source {
	/** The columns that a row needs for this. */
	columns: string;
	/** The same columns of a row of the history. */
	earlier: string;
	/** A query that is bounded by bytes derives this from the columns of each row `i`, once. */
	derived?: string;
	/** The size of the text of a row, with what is derived. */
	bytes(row: string, extent: Extent): string;
	/** The text of the row `r`. */
	text(extent: Extent): string;
	/** The same where it is derived. */
	derivedText(extent: Extent): string;
	/** The text of the row `r`, or null if it has more bytes; absent where that is known only when it is rendered. */
	shortText?(bytes: string): string;
}

const stored: Source = {
	columns: 'r.resource',
	earlier: 'r.resource',
	derived: `${wholeText('i.resource')} as whole`,
	bytes: (row) => `octet_length(${row}.whole)`,
	text: () => wholeText('r.resource'),
	derivedText: () => 'r.whole',
	shortText: (bytes) => shortText('r.resource', bytes),
};
const study: Source = { columns: studyColumns, earlier: noStudyColumns, bytes: studyBytes, text: studyText, derivedText: studyText };

function sourceOf(table: string): Source {
	return table === 'imaging_study_resource' ? study : stored;
}

/** The columns of a row that is rendered, in the order in which `rowOf` takes them. */
export function rowColumns(table: string, extent: Extent = 'whole'): string {
	return columnsWith(resourceText(table, extent));
}

function columnsWith(text: string): string {
	return `coalesce(r.given_id, r.id::text), r.version, to_char(r.last_updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), r.source, r.meta, ${text}`;
}

/**
 * The columns of `rowColumns`, with null for a text that is longer than so many bytes; undefined where `boundedQuery` has to tell. A page of which
 * every text has its share of the bytes needs no sum of them, which would cost as much as the rows themselves.
 */
export function shortColumns(table: string, bytes: () => string): string | undefined {
	const { shortText } = sourceOf(table);
	return shortText && columnsWith(shortText(bytes()));
}

/** The columns of a row that `boundedQuery` and `rowColumns` need. */
export function innerColumns(table: string): string {
	return `r.site_id, r.id, r.given_id, r.version, r.last_updated, r.source, r.meta, ${sourceOf(table).columns}`;
}

/** The same columns of an earlier version of a row of the table, `r` of the history. */
export function earlierColumns(table: string): string {
	return `r.site_id, r.id, r.given_id, r.version, r.last_updated, r.source, r.meta, ${sourceOf(table).earlier}`;
}

/** The size of the text of the row `r`. */
export function rowBytes(table: string): string {
	const { derived, bytes } = sourceOf(table);
	return derived === undefined ? bytes('r', 'whole') : `octet_length(${wholeText('r.resource')})`;
}

/** The text of the row `r`, without resourceType, id and meta. */
export function resourceText(table: string, extent: Extent = 'whole'): string {
	return sourceOf(table).text(extent);
}

export interface Bounded {
	table: string;
	extent?: Extent | undefined;
	/** Further selected columns of the rows `r`, after `rowColumns`; `r.found` is the number of rows. */
	further: string;
	/** Rows of this site with the columns of `innerColumns`, and others. */
	inner: string;
	order(row: string): string;
	bytesMax: string;
}

/** Selects rows up to the one whose text exceeds the bytes. */
export function boundedQuery({ table, extent = 'whole', further, inner, order, bytesMax }: Bounded): string {
	const source = sourceOf(table);
	const bytes = source.bytes('m', extent);
	const rows = source.derived === undefined ? inner : `select i.*, ${source.derived} from (${inner}) i where i.site_id = $1 offset 0`;
	return `select ${columnsWith(source.derivedText(extent))}, ${further} from (
	select m.*, count(*) over () as found,
		sum(${bytes}) over (order by ${order('m')} rows unbounded preceding) - ${bytes} as bytes_before
	from (${rows}) m
) r
where r.site_id = $1 and r.bytes_before < ${bytesMax}
order by ${order('r')}`;
}
