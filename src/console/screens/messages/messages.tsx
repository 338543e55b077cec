import { useList } from '../../answers.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { EmptyList } from '../../components/empty.tsx';
import { Histogram } from '../../components/histogram.tsx';
import { Page } from '../../components/page.tsx';
import { ListTable } from '../../components/table.tsx';
import { useFilters } from '../../filters.ts';
import { scoped, useSiteScope } from '../../scope.ts';
import { countMessages, type MessageRecord, searchMessages } from './calls.ts';
import { messageTable } from './columns.tsx';
import { Filters, hiddenFilters, type MessageFilters, noFilters, queryOf } from './filters.tsx';
import { LiveMessages } from './live.tsx';

/** The message log. The identifier of a patient never enters the address. */
export function Messages() {
	const site = useSiteScope();
	const [filters, setFilters, clear] = useFilters<MessageFilters>(noFilters, hiddenFilters);
	const [{ live }, setLive] = useFilters({ live: '' });
	const isLive = live === 'on';
	const isOfCause = filters.cause !== '';
	const found = useList<MessageRecord>(
		(page, signal) => searchMessages({ site, ...queryOf(filters), ...page }, signal),
		(message) => message.id,
		[site, filters],
		'messages',
	);
	return (
		<Page
			title="Messages"
			lead={
				!isOfCause
					? 'The message log has every message that was received, with its outcome and the reason.'
					: 'These messages were refused for the same cause.'
			}
			{...(!isOfCause ? {} : { up: { href: '/failures', title: 'Failures' } })}
			actions={
				<>
					<LinkButton href="/unmatched">Unmatched traffic</LinkButton>
					<LinkButton href={scoped('/messages/content')} icon="search">
						Search in messages
					</LinkButton>
					<Button onClick={() => setLive({ live: isLive ? '' : 'on' })}>{isLive ? 'Show the list' : 'Live'}</Button>
					{!isLive && (
						<Button icon="refresh" onClick={found.reload}>
							Refresh
						</Button>
					)}
				</>
			}
		>
			<Filters site={site} filters={filters} onFilters={setFilters} onClear={clear} />
			{!isLive && (
				<Histogram
					ask={(span, signal) => countMessages({ site, ...queryOf(filters), ...span }, signal)}
					dependencies={[site, filters]}
					period={filters}
					onPeriod={(period) => setFilters({ ...filters, ...period })}
					noun="message"
				/>
			)}
			{isLive ? (
				<LiveMessages filters={filters} />
			) : (
				<ListTable
					list={found}
					caption="Messages, newest first"
					noun="message"
					{...messageTable}
					empty={
						<EmptyList
							icon="messages"
							title="No messages yet"
							filtered="No messages match the filters"
							clear={clear}
							action="Clear the filters"
						>
							<p>Messages appear here with their answers as soon as a system sends to a site.</p>
						</EmptyList>
					}
				/>
			)}
		</Page>
	);
}
