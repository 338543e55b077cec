import { useState } from 'preact/hooks';
import { asFailure, type List } from '../../answers.ts';
import type { ApiFailure } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { instantsOf, noPeriod, PeriodFilter } from '../../components/period.tsx';
import { Problem } from '../../components/problem.tsx';
import { SiteNeeded } from '../../components/site-needed.tsx';
import { ListTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useEntryState } from '../../entries.ts';
import { useFilters } from '../../filters.ts';
import { count } from '../../format.ts';
import { type ContentSearch, type MessageRecord, searchContent } from './calls.ts';
import { messageTable } from './columns.tsx';

/** Looks into stored messages by what their fields hold. */
export function MessageContentSearch() {
	return (
		<Page
			title="Search in messages"
			up={{ href: '/messages', title: 'Messages' }}
			lead="This search finds HL7 v2 messages by what a field holds. The audit trail records which fields you searched, but not what you searched for."
		>
			<SiteNeeded icon="messages">{(site) => <Search key={site} site={site} />}</SiteNeeded>
		</Page>
	);
}

interface Found extends Pick<ContentSearch, 'examined' | 'looked_back_to' | 'next'> {
	rows: readonly MessageRecord[];
	/** The search that found the rows; the next page repeats it. */
	asked: Parameters<typeof searchContent>[0];
}

/** A condition may name a patient, so no address has it. */
function Search({ site }: { site: string }) {
	const [where, setWhere] = useEntryState('content conditions', ['', '']);
	const [period, setPeriod, clear] = useFilters(noPeriod);
	const [found, setFound] = useEntryState<Found | undefined>('content found', undefined);
	const [busy, setBusy] = useState(false);
	const [failure, setFailure] = useState<ApiFailure>();
	const look = async (asked: Found['asked'], before?: Found) => {
		setBusy(true);
		setFailure(undefined);
		try {
			const { messages, ...further } = await searchContent({ ...asked, ...(before?.next && { before: before.next }) });
			const examined = further.examined + (before?.examined ?? 0);
			setFound({ ...further, examined, rows: [...(before?.rows ?? []), ...messages], asked });
		} catch (error) {
			setFailure(asFailure(error));
		}
		setBusy(false);
	};
	const conditions = where.map((text) => text.trim()).filter((text) => text !== '');
	const isReady = conditions.length > 0 && !busy;
	return (
		<>
			<form
				class="filters"
				onSubmit={(event) => {
					event.preventDefault();
					if (isReady) void look({ site, where: conditions, ...instantsOf(period) });
				}}
			>
				{where.map((text, index) => (
					<label key={index === 0 ? 'first' : 'second'}>
						{index === 0 ? 'Field and text' : 'And'}
						<input
							value={text}
							placeholder={index === 0 ? 'PID-5~^smi' : 'OBX-3=718-7'}
							autocomplete="off"
							spellcheck={false}
							onInput={(event) => setWhere(where.map((each, at) => (at === index ? event.currentTarget.value : each)))}
						/>
					</label>
				))}
				<PeriodFilter period={period} onPeriod={setPeriod} onClear={clear} />
				<Button type="submit" kind="primary" icon="search" disabled={!isReady} busy={busy}>
					Search
				</Button>
			</form>
			<p class="note">
				<span>
					<code>PID-5~smi</code> finds a field that contains “smi”, <code>PID-5~^smi</code> one that begins with it, and{' '}
					<code>PID-3.1=4711</code> a component that is exactly “4711”. Without a time, the search looks back one day.
				</span>
			</p>
			{failure && <Problem failure={failure} />}
			{found && <Result found={found} busy={busy} onMore={() => void look(found.asked, found)} />}
		</>
	);
}

function Result({ found, busy, onMore }: { found: Found; busy: boolean; onMore(): void }) {
	const { rows, examined, looked_back_to: back, next } = found;
	const all = () => Promise.resolve(rows);
	const list: List<MessageRecord> = { rows, all, failure: undefined, loading: busy, complete: next === null, more: onMore, reload: onMore };
	return (
		<>
			<p class="note" role="status">
				{count(examined, 'message')} looked into
				{back !== null && (
					<>
						, back to <Time at={back} />
					</>
				)}
				{next !== null && '. There are older ones.'}{' '}
				{next !== null && rows.length === 0 && (
					<Button onClick={onMore} busy={busy}>
						Look further back
					</Button>
				)}
			</p>
			<ListTable
				list={list}
				caption="Messages that match, newest first"
				noun="message"
				{...messageTable}
				empty={
					<Empty icon="search" title="No messages match">
						<p>Check the name of the field, or choose a longer time.</p>
					</Empty>
				}
			/>
		</>
	);
}
