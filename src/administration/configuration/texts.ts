import type { z } from 'zod';
import type { appliedRecord, plan } from './configuration.ts';
import { type ConfigurationDocument, textOf } from './document.ts';

/** Writes what the command line prints for people. */
export function configurationText(result: unknown): string {
	return textOf(result as ConfigurationDocument);
}

const marks = { create: '+', change: '~', remove: '-' } as const;
const past = { create: 'created', change: 'changed', remove: 'removed' } as const;

export function planText(result: unknown): string {
	const told = result as z.output<typeof plan> | z.output<typeof appliedRecord>;
	const lines = told.changes.flatMap(({ action, what, fields }) => [
		`${marks[action]} ${what}`,
		...(action === 'remove' ? [] : fields.map(({ field, before, after }) => `    ${field}: ${fieldText(before, after)}`)),
	]);
	const count = (action: keyof typeof marks) => told.changes.filter((each) => each.action === action).length;
	const sums = (['create', 'change', 'remove'] as const).map((action) => `${count(action)} ${past[action]}`).join(', ');
	return [
		...lines,
		...told.kept.map((what) => `  ${what} is not in the file, and stays`),
		...told.to_do.map((text) => `! ${text}`),
		...('refusal' in told && told.refusal !== null ? [`refused: ${told.refusal}`] : []),
		...('secrets' in told ? told.secrets.map(({ of, secret }) => `secret of ${of}, shown only once: ${secret}`) : []),
		told.changes.length === 0 ? 'nothing to change' : sums,
		`state ${told.state}${'state_after' in told ? ` -> ${told.state_after}` : ''}`,
		...('id' in told && told.id !== null ? [`apply ${told.id}`] : []),
		'',
	].join('\n');
}

function fieldText(before: unknown, after: unknown): string {
	const text = (value: unknown) => (value === undefined ? 'unset' : JSON.stringify(value));
	return before === undefined ? text(after) : `${text(before)} -> ${text(after)}`;
}
