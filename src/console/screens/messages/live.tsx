import { useEffect, useRef, useState } from 'preact/hooks';
import { queryOf as queryText } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { CsvButton } from '../../components/csv-button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Table } from '../../components/table.tsx';
import { count } from '../../format.ts';
import { follow, type LiveState } from '../../live.ts';
import { useSiteScope } from '../../scope.ts';
import type { MessageRecord } from './calls.ts';
import { messageTable } from './columns.tsx';
import { type MessageFilters, queryOf } from './filters.tsx';

/** The page keeps no more rows. */
const rowsMax = 500;

interface Shown {
	rows: readonly MessageRecord[];
	/** Messages that came while the list stood still, newest first. */
	waiting: readonly MessageRecord[];
	skipped: boolean;
}

const nothing: Shown = { rows: [], waiting: [], skipped: false };

/** Messages as they come, newest first. While it is paused, the list stands still and counts. */
export function LiveMessages({ filters }: { filters: MessageFilters }) {
	const site = useSiteScope();
	const [paused, setPaused] = useState(false);
	const [state, setState] = useState<LiveState>('connecting');
	const [{ rows, waiting, skipped }, setShown] = useState<Shown>(nothing);
	const isPaused = useRef(paused);
	isPaused.current = paused;
	const { type, outcome, kind, surface, client, cause, control_id } = queryOf(filters);
	const query = queryText(Object.entries({ site, type, outcome, kind, surface, client, cause, control_id }));
	useEffect(() => {
		setShown(nothing);
		const take = (messages: readonly MessageRecord[]) => {
			const newest = [...messages].reverse();
			setShown((before) => {
				if (!isPaused.current) return { ...before, rows: [...newest, ...before.rows].slice(0, rowsMax) };
				const held = [...newest, ...before.waiting];
				return { ...before, waiting: held.slice(0, rowsMax), skipped: before.skipped || held.length > rowsMax };
			});
		};
		const skip = () => setShown((before) => ({ ...before, skipped: true }));
		return follow(`/api/v1/messages/tail/live${query}`, { messages: take, skipped: skip }, setState);
	}, [query]);
	const toggle = () => {
		setPaused(!paused);
		if (paused) setShown((before) => ({ ...before, rows: [...before.waiting, ...before.rows].slice(0, rowsMax), waiting: [] }));
	};
	return (
		<>
			<div class="live-head">
				<Badge tone={state === 'lost' ? 'danger' : state === 'open' && !paused ? 'good' : 'neutral'}>
					{state === 'lost' ? 'Connection lost, reconnecting' : paused ? 'Paused' : state === 'open' ? 'Live' : 'Connecting'}
				</Badge>
				<Button onClick={toggle}>
					{paused ? `Continue${waiting.length > 0 ? ` with ${count(waiting.length, 'message')}` : ''}` : 'Pause'}
				</Button>
				{rows.length > 0 && <CsvButton name="messages" rows={rows} />}
				{skipped && <span class="note">More messages came than are shown; some are left out here. The list has all of them.</span>}
				{filters.patient !== '' && <span class="note">The filter by patient does not apply to live messages.</span>}
			</div>
			{rows.length === 0 ? (
				<Empty icon="messages" title="Waiting for the next message">
					<p>Messages of the last minute are shown at once, and others as they come.</p>
				</Empty>
			) : (
				<Table {...messageTable} caption="Messages as they come, newest first" rows={rows} />
			)}
		</>
	);
}
