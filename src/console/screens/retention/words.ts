import { count } from '../../format.ts';
import type { KeptPolicy } from './calls.ts';

/** Names in words what the service keeps for some time. */
export const keptTitles: Readonly<Record<KeptPolicy['kept'], string>> = {
	messages: 'Messages',
	history: 'Earlier versions of resources',
	accepted: 'Marks by which a repeated message is recognised',
	unmatched: 'Unmatched messages',
	jobs: 'Records of finished replays and other runs',
	feeds: 'Figures of feeds',
	studies: 'Studies with their images',
	audit: 'Audit trail',
};

/** `30 days`; 0 is for ever. */
export function timeKept(days: number): string {
	return days === 0 ? 'for ever' : count(days, 'day');
}

/** `1,204 messages`: what a run removed of one kind. */
export function removedRows(kept: Exclude<KeptPolicy['kept'], 'audit'>, rows: number): string {
	const [one, many] = nouns[kept];
	return count(rows, one, many);
}

const nouns: Readonly<Record<Exclude<KeptPolicy['kept'], 'audit'>, readonly [one: string, many: string]>> = {
	messages: ['message', 'messages'],
	history: ['earlier version', 'earlier versions'],
	accepted: ['mark of a message', 'marks of messages'],
	unmatched: ['unmatched message', 'unmatched messages'],
	jobs: ['record of a run', 'records of runs'],
	feeds: ['hour of a feed', 'hours of feeds'],
	studies: ['study', 'studies'],
};
