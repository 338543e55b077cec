import { useEffect } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { Ago, Time } from '../../components/time.tsx';
import { announce } from '../../components/toast.tsx';
import { capitalized, count } from '../../format.ts';
import type { Alert } from './calls.ts';
import { Runbook } from './runbook.tsx';

interface AlertsProps {
	alerts: readonly Alert[];
	/** The instant since which nobody knows whether there are alerts. */
	unknownSince: string | undefined;
}

/** The active alerts, each with what to do and a way to the rows that it speaks of. */
export function Alerts({ alerts, unknownSince }: AlertsProps) {
	const identity = alerts.map(({ name, summary }) => `${name} ${summary}`).join('; ');
	useEffect(() => {
		if (alerts.length > 0) announce(`${count(alerts.length, 'alert')}: ${alerts.map(({ summary }) => summary).join('; ')}`);
	}, [identity]);
	return (
		<>
			{unknownSince !== undefined && (
				<p class="unknown">
					<Icon name="failures" />
					<span>
						Alerts have been unknown since <Time at={unknownSince} />
						{alerts.length > 0 && '. These were active then:'}
					</span>
				</p>
			)}
			{unknownSince === undefined && alerts.length === 0 && (
				<p class="all-well">
					<Icon name="check" /> No alerts
				</p>
			)}
			{alerts.length > 0 && (
				<ul class="alerts" aria-label="Alerts">
					{alerts.map((alert) => (
						<Row key={`${alert.name} ${alert.summary}`} {...alert} />
					))}
				</ul>
			)}
		</>
	);
}

function Row({ name, since, summary, severity, runbook, list }: Alert) {
	return (
		<li class={severity}>
			<Icon name="failures" />
			<div>
				<strong>{capitalized(summary)}</strong>
				<span class="sub">
					{severity} · since <Ago at={since} /> · <code>{name}</code>
				</span>
				<Runbook text={runbook} />
				{list !== null && <a href={list}>Show what it is about</a>}
			</div>
		</li>
	);
}
