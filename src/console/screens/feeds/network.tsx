import { useState } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { Loading } from '../../components/empty.tsx';
import { Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { Time } from '../../components/time.tsx';
import { clockTime, count, figure, localDate, localTime } from '../../format.ts';
import { useSiteScope, useSites } from '../../scope.ts';
import { type NetworkRecord, showNetwork } from './calls.ts';

const cell = 10;
const levels = 5;

/** Sites by hours: how dark an hour is says how much of the site's busiest hour came in it. */
export function Network({ turn }: { turn: number }) {
	const site = useSiteScope();
	const [days, setDays] = useState(1);
	const answer = useAnswer((signal) => showNetwork({ site, days }, signal), [site, days, turn]);
	const choices = [1, 7].map((one) => (
		<button key={one} type="button" class="segment" aria-pressed={one === days} onClick={() => setDays(one)}>
			{one === 1 ? 'Day' : 'Week'}
		</button>
	));
	return (
		<Panel title="Network" actions={<span class="segments">{choices}</span>}>
			{answer.data === undefined ? (
				answer.failure ? (
					<Problem failure={answer.failure} onRetry={answer.reload} />
				) : (
					<Loading lines={3} />
				)
			) : (
				<HeatMap network={answer.data} days={days} />
			)}
		</Panel>
	);
}

function HeatMap({ network, days }: { network: NetworkRecord; days: number }) {
	const { hours, sites, since } = network;
	const names = useSites();
	if (sites.length === 0) return <p class="muted">No site has a sender yet.</p>;
	const first = hours[0];
	const label = (at: string) => (days === 1 ? clockTime(new Date(at)) : localDate(new Date(at)).slice(5));
	const marks = (days === 1 ? [0, 6, 12, 18] : [0, 24, 48, 72, 96, 120, 144]).map((index) => hours[index]).filter((at) => at !== undefined);
	return (
		<div class="network">
			<ul>
				{sites.map(({ site, received, refused }) => {
					const name = site === null ? 'No site' : (names.find(({ slug }) => slug === site)?.name ?? site);
					const total = received.reduce((sum, one) => sum + one, 0);
					const wrong = refused.reduce((sum, one) => sum + one, 0);
					const words = `${name}: ${count(total, 'message')}, ${figure(wrong)} refused`;
					return (
						<li key={site ?? ''}>
							{site === null ? <a href="/unmatched">{name}</a> : <a href={`/?${new URLSearchParams({ site })}`}>{name}</a>}
							<Row words={words} hours={hours} received={received} refused={refused} />
							<span class="network-total">{figure(total)}</span>
						</li>
					);
				})}
				<li aria-hidden="true" class="network-axis">
					<span />
					<span>
						{marks.map((at) => (
							<span key={at}>{label(at)}</span>
						))}
					</span>
					<span />
				</li>
			</ul>
			{since !== null && first !== undefined && since > first && (
				<p class="muted">
					Figures are kept since <Time at={since} />.
				</p>
			)}
		</div>
	);
}

interface RowProps {
	words: string;
	hours: readonly string[];
	received: readonly number[];
	refused: readonly number[];
}

function Row({ words, hours, received, refused }: RowProps) {
	const most = Math.max(1, ...received);
	return (
		<svg viewBox={`0 0 ${hours.length * cell} ${cell}`} preserveAspectRatio="none" role="img" aria-label={words}>
			{hours.map((at, index) => {
				const [all, bad] = [received[index] ?? 0, refused[index] ?? 0];
				const level = all === 0 ? 0 : Math.max(1, Math.ceil((all / most) * levels));
				return (
					<rect key={at} x={index * cell} width={cell - 1} height={cell} class={bad > all / 5 ? 'heat bad' : `heat level-${level}`}>
						<title>{`${localTime(new Date(at)).slice(0, 16)}: ${count(all, 'message')}, ${figure(bad)} refused`}</title>
					</rect>
				);
			})}
		</svg>
	);
}
