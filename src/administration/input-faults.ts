import type { z } from 'zod';

/** A fault of one member of an input. */
export interface InputFault {
	/** Empty if the input as a whole is wrong. */
	member: string;
	/** The member with the place inside it: `allowed_ips.0`. */
	path: string;
	/** A part of a sentence whose subject is the member: `must be a number`; or a sentence of its own. */
	text: string;
	isSentence: boolean;
}

type Issue = z.core.$ZodIssue;

/** Says in words what a schema refuses. */
export function faultsOf(error: z.ZodError): InputFault[] {
	return error.issues.map((issue) => {
		const words = wordsOf(issue);
		const [member = ''] = issue.path;
		return { member: String(member), path: issue.path.join('.'), text: words ?? issue.message, isSentence: words === undefined };
	});
}

/** Writes a fault; `called` is how the reader knows the member. */
export function faultText({ path, text, isSentence }: InputFault, called = path): string {
	if (called === '') return isSentence ? text : `the input ${text}`;
	return isSentence ? `${called}: ${text}` : `${called} ${text}`;
}

const kinds: Readonly<Record<string, string>> = {
	number: 'a number',
	int: 'a whole number',
	string: 'a text',
	boolean: 'true or false',
	array: 'a list',
	object: 'an object',
};

const formats: Readonly<Record<string, string>> = {
	email: 'an e-mail address',
	uuid: 'an id, as lists show it',
	datetime: 'a time such as 2026-01-31T10:00:00Z',
	date: 'a day such as 2026-01-31',
	url: 'a URL',
};

/** Undefined where the rule of the schema has a sentence of its own. */
function wordsOf(issue: Issue): string | undefined {
	switch (issue.code) {
		case 'invalid_type':
			return issue.message.endsWith('received undefined') ? 'is required' : `must be ${kinds[issue.expected] ?? issue.expected}`;
		case 'invalid_format': {
			const format = formats[issue.format];
			return format === undefined || !issue.message.startsWith('Invalid ') ? undefined : `must be ${format}`;
		}
		case 'invalid_value':
			return `must be ${listed(issue.values.filter((value) => value !== '').map(String))}`;
		case 'unrecognized_keys':
			return `has no member ${issue.keys.map((key) => `'${key}'`).join(', ')}`;
		case 'too_small':
			return issue.message.startsWith('Too small') ? bound('at least', issue.minimum, issue.origin) : undefined;
		case 'too_big':
			return issue.message.startsWith('Too big') ? bound('at most', issue.maximum, issue.origin) : undefined;
		case 'invalid_union':
			return wordsOfUnion(issue);
		default:
			return undefined;
	}
}

function bound(which: string, size: number | bigint, origin: string): string {
	if (origin === 'string') return size === 1 && which === 'at least' ? 'must not be empty' : `must have ${which} ${size} characters`;
	if (origin === 'array') return `must have ${which} ${size} ${size === 1 ? 'entry' : 'entries'}`;
	return `must be ${which} ${size}`;
}

/** An empty text or null only takes a value away, so it is not named. */
function wordsOfUnion(issue: Issue): string | undefined {
	const said = [...new Set(alternativesOf(issue))].filter((text) => text !== 'must be ' && text !== 'must be null');
	if (said.length === 0) return undefined;
	return said.every((text) => text.startsWith('must be '))
		? `must be ${listed(said.map((text) => text.replace(/^must be /, '')))}`
		: said[0];
}

function alternativesOf(issue: Issue): string[] {
	if (issue.code !== 'invalid_union') return [wordsOf(issue) ?? issue.message];
	return issue.errors.flatMap(([first]) => (first === undefined ? [] : alternativesOf(first)));
}

function listed(words: readonly string[]): string {
	return words.join(' or ');
}
