import { Badge, type Tone } from '../../components/badge.tsx';
import type { FeedRecord, FeedState } from './calls.ts';

/** The states in the order in which a person looks at them. */
export const states: readonly { state: FeedState; title: string; tone: Tone }[] = [
	{ state: 'failing', title: 'Failing', tone: 'danger' },
	{ state: 'silent', title: 'Silent', tone: 'danger' },
	{ state: 'paused', title: 'Paused', tone: 'warning' },
	{ state: 'not-known', title: 'Not known yet', tone: 'info' },
	{ state: 'unheard', title: 'Never heard', tone: 'neutral' },
	{ state: 'connected', title: 'Connected', tone: 'good' },
	{ state: 'disabled', title: 'Disabled', tone: 'neutral' },
];

export const placeOf = ({ state }: Pick<FeedRecord, 'state'>) => states.findIndex((one) => one.state === state);

export function State({ state }: Pick<FeedRecord, 'state'>) {
	const { title, tone } = states.find((one) => one.state === state) ?? { title: state, tone: 'neutral' as const };
	return <Badge tone={tone}>{title}</Badge>;
}

/** `45 minutes`, `3 hours`, `2 days` */
export function spanOf(minutes: number): string {
	const [value, unit] = minutes < 120 ? [minutes, 'minute'] : minutes < 2880 ? [minutes / 60, 'hour'] : [minutes / 1440, 'day'];
	const rounded = Math.round(value * 10) / 10;
	return `${rounded} ${unit}${rounded === 1 ? '' : 's'}`;
}

/** Says after how long without a message a feed counts as silent, and why. */
export function silenceOf({ kind, silent_after_minutes: minutes, silent_by: by }: FeedRecord): string {
	if (kind === 'unmatched' || kind === 'former') return 'not judged';
	if (minutes === null) return 'not known yet: this takes two weeks of traffic at this hour of the week, or a time that is set by hand';
	return by === 'setting'
		? `after ${spanOf(minutes)}, as set`
		: `after ${spanOf(minutes)}: three times its longest usual pause at this hour`;
}

const kinds: Readonly<Record<FeedRecord['kind'], string>> = {
	client: 'Integration client',
	key: 'API key',
	token: 'Access token',
	nearby: 'DICOM without a client',
	unmatched: 'No client, no key',
	former: 'Removed or revoked',
};
export const kindOf = ({ kind }: Pick<FeedRecord, 'kind'>) => kinds[kind];
