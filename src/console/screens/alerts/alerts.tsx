import { useAnswer, wholeList } from '../../answers.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Button, LinkButton } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import { EmptyList } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useFilters } from '../../filters.ts';
import { capitalized } from '../../format.ts';
import { useSiteScope } from '../../scope.ts';
import { Runbook } from '../overview/runbook.tsx';
import { type AlertRecord, listAlerts } from './calls.ts';

const tones: Readonly<Record<AlertRecord['severity'], Tone>> = { critical: 'danger', warning: 'warning', info: 'info' };

const gravity = ['critical', 'warning', 'info'];

const columns: readonly Column<AlertRecord>[] = [
	{ name: 'since', title: 'Since', by: ({ since }) => since, tight: true, cell: ({ since }) => <Time at={since} /> },
	{
		name: 'severity',
		title: 'Severity',
		by: ({ severity }) => gravity.indexOf(severity),
		tight: true,
		cell: ({ severity }) => <Badge tone={tones[severity]}>{severity}</Badge>,
	},
	{
		name: 'summary',
		title: 'Alert',
		by: ({ summary }) => summary,
		cell: ({ name, summary, runbook }) => (
			<>
				{capitalized(summary)}
				<span class="sub">
					<code>{name}</code>
				</span>
				<Runbook text={runbook} />
			</>
		),
	},
	{
		name: 'node',
		title: 'Node',
		by: ({ node }) => node,
		tight: true,
		spare: true,
		cell: ({ node }) => (node === null ? 'network' : <code>{node}</code>),
	},
	{
		name: 'site',
		title: 'Site',
		by: ({ site }) => site,
		tight: true,
		spare: true,
		cell: ({ site }) => (site === null ? <span class="muted">–</span> : <code>{site}</code>),
	},
	{
		name: 'ended',
		title: 'Ended',
		by: ({ ended_at: at }) => at,
		tight: true,
		cell: ({ ended_at: at }) => (at === null ? <span class="muted">active</span> : <Time at={at} />),
	},
	{
		name: 'list',
		title: 'About',
		tight: true,
		cell: ({ list }) => (list === null ? <span class="muted">–</span> : <a href={list}>Show</a>),
	},
];

/** Lists the alerts of all nodes of the network, those that have ended too. */
export function NetworkAlerts() {
	const site = useSiteScope();
	const [{ which }, setFilters, clear] = useFilters({ which: '' });
	const ended = which === 'ended';
	const answer = useAnswer((signal) => listAlerts({ ...(site !== undefined && { site }), ended }, signal), [site, ended]);
	return (
		<Page
			title="Alerts"
			lead="These are the alerts of all nodes. The overview shows those of the node that answers you."
			actions={
				<>
					<LinkButton href="/notifications">Who is notified</LinkButton>
					<Button icon="refresh" onClick={answer.reload}>
						Refresh
					</Button>
				</>
			}
		>
			<div class="filters">
				<Choice
					label="Which"
					value={which}
					options={[['ended', 'Include ended alerts']]}
					onValue={(value) => setFilters({ which: value })}
				/>
			</div>
			<ListTable
				list={wholeList(answer)}
				caption="Alerts, newest first"
				noun="alert"
				columns={columns}
				identify={({ id }) => id}
				tone={({ severity, ended_at: at }) => (at === null && severity === 'critical' ? 'danger' : undefined)}
				empty={
					<EmptyList icon="check" title="No alerts" filtered="No alerts have been recorded" clear={clear}>
						<p>Nothing needs your attention now.</p>
					</EmptyList>
				}
			/>
		</Page>
	);
}
