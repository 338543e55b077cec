import { commonOptions, type DescribedCommand } from './command.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** Writes the script by which a shell completes commands, options and the words of options. It asks nothing and reads nothing. */
export function completionScript(shell: Shell, commands: readonly DescribedCommand[]): string {
	const writers: Readonly<Record<Shell, (commands: readonly Completed[]) => string>> = { bash, zsh, fish };
	return writers[shell](commands.map(completed));
}

interface Completed {
	name: string;
	summary: string;
	/** The words that the first positional can be. */
	words: readonly string[];
	options: readonly { name: string; meaning: string; takesValue: boolean; choices: readonly string[] }[];
}

function completed({ name, summary, forms }: DescribedCommand): Completed {
	const options = new Map(
		[...forms.flatMap((form) => form.options), ...commonOptions].map((option) => [
			option.name,
			{ name: option.name, meaning: option.meaning, takesValue: option.value !== undefined, choices: option.choices },
		]),
	);
	return { name, summary, words: forms.flatMap((form) => form.words[0]?.choices ?? []), options: [...options.values()] };
}

function nounsOf(commands: readonly Completed[]): string[] {
	return [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))];
}

function verbsOf(noun: string, commands: readonly Completed[]): Completed[] {
	return commands.filter(({ name }) => name.startsWith(`${noun} `));
}

/** The words that may follow a command, and those that may follow each option with words of its own. */
function cases(commands: readonly Completed[]): string[] {
	return commands.flatMap(({ name, words, options }) => [
		...options
			.filter(({ choices }) => choices.length > 0)
			.map((option) => `'${name} --${option.name}') words='${option.choices.join(' ')}' ;;`),
		...(options.some(({ takesValue, choices }) => takesValue && choices.length === 0)
			? [
					`${options.flatMap((option) => (option.takesValue && option.choices.length === 0 ? [`'${name} --${option.name}'`] : [])).join('|')}) words='' ;;`,
				]
			: []),
		`'${name} '*) words='${[...words, ...options.map((option) => `--${option.name}`)].join(' ')}' ;;`,
	]);
}

/** The part that bash and zsh share: `words` by the command and the word before. */
function choice(commands: readonly Completed[], indent: string): string {
	return cases(commands)
		.map((line) => `${indent}${line}\n`)
		.join('');
}

function verbCases(commands: readonly Completed[], indent: string): string {
	const rows = nounsOf(commands).flatMap((noun) => {
		const verbs = verbsOf(noun, commands).map(({ name }) => name.slice(noun.length + 1));
		return verbs.length === 0 ? [] : [`${indent}${noun}) verbs='${verbs.join(' ')}' ;;\n`];
	});
	return rows.join('');
}

function bash(commands: readonly Completed[]): string {
	return `# Completion of tributary for bash: source <(tributary completion bash)
_tributary() {
	local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} first=1 words='' verbs=''
	[[ \${COMP_WORDS[1]} == help ]] && first=2
	local noun=\${COMP_WORDS[first]}
	case $noun in
${verbCases(commands, '\t\t')}	esac
	if ((COMP_CWORD <= first)); then
		words='${nounsOf(commands).join(' ')}'
		((first == 2)) || words+=' --help --version'
	elif [[ -n $verbs ]] && ((COMP_CWORD == first + 1)); then
		words=$verbs
	elif ((first == 1)); then
		local command=$noun
		[[ -n $verbs ]] && command="$noun \${COMP_WORDS[2]}"
		case "$command $before" in
${choice(commands, '\t\t\t')}		esac
	fi
	COMPREPLY=($(compgen -W "$words" -- "$current"))
	if [[ \${#COMPREPLY[@]} -eq 0 && $current != -* ]]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -F _tributary tributary
`;
}

function zsh(commands: readonly Completed[]): string {
	return `#compdef tributary
# Completion of tributary for zsh: source <(tributary completion zsh), after compinit
_tributary() {
	local current=\${words[CURRENT]} before=\${words[CURRENT-1]} first=2 verbs='' noun command
	local -a typed=("\${words[@]}")
	[[ \${typed[2]} == help ]] && first=3
	noun=\${typed[first]}
	case $noun in
${verbCases(commands, '\t\t')}	esac
	local words=''
	if ((CURRENT <= first)); then
		words='${nounsOf(commands).join(' ')}'
	elif [[ -n $verbs ]] && ((CURRENT == first + 1)); then
		words=$verbs
	elif ((first == 2)); then
		command=$noun
		[[ -n $verbs ]] && command="$noun \${typed[3]}"
		case "$command $before" in
${choice(commands, '\t\t\t')}		esac
	fi
	if [[ -n $words ]]; then compadd -- \${=words}; else _files; fi
}
compdef _tributary tributary
`;
}

function fish(commands: readonly Completed[]): string {
	const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
	const lines = nounsOf(commands).flatMap((noun) => {
		const verbs = verbsOf(noun, commands);
		const own = commands.find(({ name }) => name === noun);
		const summary = own?.summary ?? verbs.map(({ name }) => name.slice(noun.length + 1)).join(', ');
		return [
			`complete -c tributary -n __fish_use_subcommand -a ${noun} -d ${quoted(summary)}`,
			...(own === undefined ? [] : fishOptions(own, `__tributary_is ${noun}`, quoted)),
			...verbs.flatMap((command) => {
				const verb = command.name.slice(noun.length + 1);
				return [
					`complete -c tributary -n '__tributary_needs_verb ${noun}' -a ${verb} -d ${quoted(command.summary)}`,
					...fishOptions(command, `__tributary_is ${command.name}`, quoted),
				];
			}),
		];
	});
	return `# Completion of tributary for fish: tributary completion fish | source
function __tributary_needs_verb
	set -l words (commandline -opc)
	test (count $words) -eq 2; and test $words[2] = $argv[1]
end
function __tributary_is
	set -l words (commandline -opc)
	test (count $words) -gt (count $argv); or return 1
	set -l last (math (count $argv) + 1)
	test "$words[2..$last]" = "$argv"
end
complete -c tributary -f
${lines.join('\n')}
`;
}

function fishOptions({ words, options }: Completed, condition: string, quoted: (text: string) => string): string[] {
	return [
		...(words.length === 0 ? [] : [`complete -c tributary -n '${condition}' -a ${quoted(words.join(' '))}`]),
		...options.map(({ name, meaning, takesValue, choices }) => {
			const value = !takesValue ? '' : choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : ' -r';
			return `complete -c tributary -n '${condition}' -l ${name}${value} -d ${quoted(meaning)}`;
		}),
	];
}
