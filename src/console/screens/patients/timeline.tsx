import { useMemo } from 'preact/hooks';
import { useList } from '../../answers.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Empty } from '../../components/empty.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { When } from '../../components/time.tsx';
import { useEntryState } from '../../entries.ts';
import { useFilters } from '../../filters.ts';
import { statedTime, utcTime, zoneName } from '../../format.ts';
import { pageOf } from '../../pages.ts';
import { Outcome } from '../messages/outcome.tsx';
import { showTimeline, type TimelineEntry } from './calls.ts';
import { MarkText } from './mark.tsx';

type Kind = TimelineEntry['kind'];

const kinds: readonly { kind: Kind; title: string; many: string; tone: Tone }[] = [
	{ kind: 'visit', title: 'Visit', many: 'Visits', tone: 'info' },
	{ kind: 'message', title: 'Message', many: 'Messages', tone: 'neutral' },
	{ kind: 'step', title: 'Procedure step', many: 'Procedure steps', tone: 'info' },
	{ kind: 'study', title: 'Images', many: 'Images', tone: 'good' },
	{ kind: 'result', title: 'Result', many: 'Results', tone: 'neutral' },
	{ kind: 'report', title: 'Report', many: 'Reports', tone: 'good' },
	{ kind: 'identity', title: 'Identity', many: 'Merges and identity', tone: 'warning' },
];

const kindOf = (kind: Kind) => kinds.find((one) => one.kind === kind);

/** Results of one moment and message stand together. */
interface TimelineRow {
	entry: TimelineEntry;
	/** All entries of the row, the first one included. */
	entries: readonly TimelineEntry[];
}

function rowsOf(entries: readonly TimelineEntry[]): TimelineRow[] {
	const rows: { entry: TimelineEntry; entries: TimelineEntry[] }[] = [];
	for (const entry of entries) {
		const last = rows.at(-1);
		const { kind, at, message } = last?.entry ?? {};
		if (last !== undefined && entry.kind === 'result' && kind === 'result' && at === entry.at && message === entry.message)
			last.entries.push(entry);
		else rows.push({ entry, entries: [entry] });
	}
	return rows;
}

/** The page of an entry. What has none of its own leads to the message that it came with. */
function pageOfEntry(site: string, patient: string, { kind, id, message, study }: TimelineEntry): string {
	if (kind === 'study') return pageOf('study', { site, id });
	if (kind === 'report') return pageOf('report', { id }, { site });
	if (kind === 'step' && study !== null) return pageOf('study', { site, id: study });
	if (kind === 'identity' && id !== patient) return pageOf('patient', { site, id });
	return message === null ? pageOf('patient', { site, id: patient }) : pageOf('message', { id: message });
}

/** An entry that states no time has the time of its recording, to the minute as the others. */
function Moment({ entry: { at, stated, kind } }: { entry: TimelineEntry }) {
	if (stated !== null) return <When stated={stated} />;
	return (
		<time dateTime={at} title={`${kind === 'message' ? 'received' : 'when it was recorded'} · ${utcTime(new Date(at))}`}>
			{statedTime(at)}
		</time>
	);
}

function What({ row: { entry, entries } }: { row: TimelineRow }) {
	if (entries.length === 1) {
		return (
			<>
				{entry.title} {entry.kind === 'result' && <b>{entry.detail}</b>} <MarkText result={{ ...entry, interpretation: flagText(entry) }} />
				{entry.kind !== 'result' && entry.detail !== '' && <span class="sub">{entry.detail}</span>}
			</>
		);
	}
	return (
		<>
			{entries.length} results
			<ul class="timeline-results">
				{entries.map((one) => (
					<li key={one.key}>
						{one.title} <b>{one.detail}</b> <MarkText result={{ ...one, interpretation: flagText(one) }} />
					</li>
				))}
			</ul>
		</>
	);
}

/** The sender's flag in a word; that a value is normal need not be said here. */
function flagText({ flag }: TimelineEntry): string {
	return flag === null || flag === 'normal' ? '' : flag;
}

function columnsIn(zone: string): readonly Column<TimelineRow>[] {
	return [
		{ name: 'at', title: `When (${zone})`, tight: true, cell: ({ entry }) => <Moment entry={entry} /> },
		{
			name: 'kind',
			title: 'Kind',
			tight: true,
			cell: ({ entry }) => <Badge tone={kindOf(entry.kind)?.tone ?? 'neutral'}>{kindOf(entry.kind)?.title}</Badge>,
		},
		{ name: 'what', title: 'What', cell: (row) => <What row={row} /> },
		{
			name: 'status',
			title: 'State',
			tight: true,
			cell: ({ entry }) =>
				entry.kind === 'message' ? (
					<Outcome outcome={entry.status} />
				) : (
					<span class="muted">{entry.status.replaceAll('-', ' ') || '–'}</span>
				),
		},
	];
}

/** All that is known of a patient in one order, newest first. */
export function Timeline({ site, id }: { site: string; id: string }) {
	const [filters, setFilters] = useFilters({ kinds: '' });
	const named = filters.kinds.split(',');
	const chosen = kinds.flatMap(({ kind }) => (named.includes(kind) ? [kind] : []));
	const [shared, setShared] = useEntryState<readonly string[]>('numbers shared with other patients', []);
	const found = useList<TimelineEntry>(
		async (page, signal) => {
			const answer = await showTimeline({ site, id, kind: chosen.length === 0 ? undefined : chosen.join(','), ...page }, signal);
			setShared(answer.shared);
			return answer.entries;
		},
		({ key }) => key,
		[site, id, chosen],
		'timeline',
	);
	const rows = useMemo(() => rowsOf(found.rows), [found.rows.length, found.rows[0], found.rows.at(-1)]);
	const choose = (kind: Kind, isOn: boolean) =>
		setFilters({ kinds: [...chosen.filter((one) => one !== kind), ...(isOn ? [kind] : [])].join(',') });
	return (
		<>
			<fieldset class="filters">
				<legend class="visually-hidden">Only these kinds</legend>
				{kinds.map(({ kind, many }) => (
					<label key={kind}>
						<input type="checkbox" checked={chosen.includes(kind)} onChange={(event) => choose(kind, event.currentTarget.checked)} />
						{many}
					</label>
				))}
			</fieldset>
			{shared.length > 0 && (
				<p class="note warning">
					Other patients of the site have the number {shared.join(', ')} as well. Messages and procedure steps that name only this number
					are not listed here.
				</p>
			)}
			<ListTable
				list={{ ...found, rows, all: async (most) => rowsOf(await found.all(most)) }}
				caption="What is known of this patient, newest first"
				noun="entry"
				nouns="entries"
				columns={columnsIn(zoneName())}
				identify={({ entry }) => entry.key}
				href={({ entry }) => pageOfEntry(site, id, entry)}
				empty={<Empty icon="patients" title={chosen.length === 0 ? 'Nothing is known of this patient' : 'Nothing of these kinds'} />}
			/>
		</>
	);
}
