import { type Argument, type CliHooks, type CliStreams, type DescribedCommand, flag } from './command.ts';
import { parse } from './operation-command.ts';

/** The arguments of a built-in command. */
export interface Given {
	/** The value of an option; undefined if it was not given. */
	text(name: string): string | undefined;
	has(name: string): boolean;
	/** The words that are no options. */
	words: readonly string[];
	json: boolean;
	wide: boolean;
}

/** A command that is no operation. */
export interface BuiltIn {
	name: string;
	summary: string;
	words?: readonly Argument[];
	options?: readonly Argument[];
	run(given: Given, streams: CliStreams, hooks: CliHooks): Promise<number>;
}

/** An option; a `value` such as `<folder>` makes it one that takes a text. */
export function option(
	name: string,
	meaning: string,
	{ value, isRequired = false }: { value?: string; isRequired?: boolean } = {},
): Argument {
	return { name, meaning, value, isRequired, choices: [], isRepeated: false };
}

export function describedBuiltIn({ name, summary, words = [], options = [] }: BuiltIn): DescribedCommand {
	return { name, summary, forms: [{ usage: usageOf({ name, words, options }), summary, words, options }] };
}

/** Writes a usage line: `tributary objects export --to <folder> [--site <slug>]`. */
export function usageOf({ name, words = [], options = [] }: Pick<BuiltIn, 'name' | 'words' | 'options'>): string {
	const optional = (text: string, isRequired: boolean) => (isRequired ? text : `[${text}]`);
	return [
		'tributary',
		name,
		...words.map((word) => optional(`${word.value ?? word.name}${word.isRepeated ? '...' : ''}`, word.isRequired)),
		...options.map((each) => optional(`--${each.name}${each.value === undefined ? '' : ` ${each.value}`}`, each.isRequired)),
	].join(' ');
}

/**
 * Returns undefined if the user asks for help.
 * @throws UsageError if the arguments do not fit
 */
export function givenOf({ options = [] }: BuiltIn, argv: readonly string[]): Given | undefined {
	const shape = Object.fromEntries(options.map(({ name, value }) => [name, value === undefined ? flag : ({ type: 'string' } as const)]));
	const { values, positionals } = parse(argv, shape);
	if (values['help'] === true) return undefined;
	return {
		text: (name) => (typeof values[name] === 'string' ? values[name] : undefined),
		has: (name) => values[name] !== undefined,
		words: positionals,
		json: values['json'] === true,
		wide: values['wide'] === true,
	};
}
