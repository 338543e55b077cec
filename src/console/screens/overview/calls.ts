import { call } from '../../api.ts';

/** What a node did in ten seconds. */
export interface OverviewPoint {
	at: string;
	received: number;
	refused: number;
	/** null: no acknowledgement, or not the user's to see. */
	latency_p50_ms: number | null;
	latency_p99_ms: number | null;
	waiting: number;
	associations: number | null;
	/** Read every five minutes. */
	storage_bytes: number | null;
}

export interface Alert {
	name: string;
	since: string;
	summary: string;
	severity: 'critical' | 'warning' | 'info';
}

/** What holds now, beside the points. */
export interface OverviewState {
	mailboxes: { site: string; waiting: number }[];
	storage_bytes: number | null;
	alerts: Alert[];
}

export interface OverviewAnswer extends OverviewState {
	points: OverviewPoint[];
}

export const readOverview = call<object, OverviewAnswer>('GET', '/overview');
export const livePath = '/api/v1/overview/live';
