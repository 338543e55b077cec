import { useEffect } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { Ago } from '../../components/time.tsx';
import { announce } from '../../components/toast.tsx';
import { count } from '../../format.ts';
import type { Alert } from './calls.ts';

/** The active alerts. */
export function Alerts({ alerts }: { alerts: readonly Alert[] }) {
	const identity = alerts.map(({ name, summary }) => `${name} ${summary}`).join('; ');
	useEffect(() => {
		if (alerts.length > 0) announce(`${count(alerts.length, 'alert')}: ${alerts.map(({ summary }) => summary).join('; ')}`);
	}, [identity]);
	if (alerts.length === 0) {
		return (
			<p class="all-well">
				<Icon name="check" /> No alerts
			</p>
		);
	}
	return (
		<ul class="alerts" aria-label="Alerts">
			{alerts.map(({ name, since, summary, severity }) => (
				<li key={`${name} ${summary}`} class={severity}>
					<Icon name="failures" />
					<div>
						<strong>{`${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}`}</strong>
						<span class="sub">
							{severity} · since <Ago at={since} /> · <code>{name}</code>
						</span>
					</div>
				</li>
			))}
		</ul>
	);
}
