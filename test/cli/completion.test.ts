import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { describedCommands } from '#cli/built-ins.ts';
import { completionScript, type Shell } from '#cli/completion.ts';

const script = (shell: Shell) => completionScript(shell, describedCommands());

function runIn(shell: Shell, ...parameters: string[]) {
	return spawnSync(shell, parameters, { encoding: 'utf8', cwd: '/' });
}

function without(shell: Shell): string | false {
	return runIn(shell, '-c', 'true').status === 0 ? false : `${shell} is not installed`;
}

/** Asks bash for the words that it offers while the last one is being typed. */
function offered(...words: string[]): string[] {
	const asked = `${script('bash')}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _tributary; printf '%s\\n' "\${COMPREPLY[@]}"`;
	const { stdout, stderr, status } = runIn('bash', '--norc', '-c', asked);
	assert.deepEqual([status, stderr], [0, '']);
	return stdout.split('\n').filter((line) => line !== '');
}

describe('completion', () => {
	test('bash offers nouns, verbs, options and the words of options', () => {
		assert.deepEqual(offered('tributary', 'stat'), ['status']);
		assert.ok(['site', 'client', 'doctor', 'help'].every((noun) => offered('tributary', '').includes(noun)));
		assert.deepEqual(offered('tributary', 'site', 'sh'), ['show']);
		assert.deepEqual(offered('tributary', 'help', 'site', 'a'), ['add']);
		assert.deepEqual(offered('tributary', 'client', 'add', '--proto'), ['--protocol']);
		assert.deepEqual(offered('tributary', 'client', 'add', '--protocol', ''), ['hl7-mllp', 'dicom']);
		assert.deepEqual(offered('tributary', 'messages', 'list', '--outcome', 'ref'), ['refused']);
		assert.deepEqual(offered('tributary', 'messages', 'list', '--unm'), ['--unmatched']);
		assert.deepEqual(offered('tributary', 'completion', ''), ['bash', 'zsh', 'fish', '--json', '--wide', '--help']);
		assert.deepEqual(offered('tributary', 'doctor', '--ob'), ['--objects']);
		assert.deepEqual(offered('tributary', 'site', 'add', '--name', 'zzz'), []);
	});

	test('every command and every option is in each script', () => {
		for (const shell of ['bash', 'zsh', 'fish'] as const) {
			const text = script(shell);
			for (const { name, forms } of describedCommands()) {
				for (const word of name.split(' ')) assert.ok(text.includes(word), `${shell}: ${name}`);
				for (const { name: option } of forms.flatMap((form) => form.options))
					assert.ok(text.includes(shell === 'fish' ? `-l ${option}` : `--${option}`), `${shell}: ${name} --${option}`);
			}
		}
	});

	test('zsh takes its script', { skip: without('zsh') }, () => {
		const { status, stderr } = runIn('zsh', '-f', '-c', `autoload -U compinit; compinit -u -D; ${script('zsh')}`);
		assert.deepEqual([status, stderr], [0, '']);
	});

	test('fish takes its script, and offers the same', { skip: without('fish') }, () => {
		const { stdout, stderr } = runIn('fish', '-N', '-c', `${script('fish')}\ncomplete -C 'tributary site sh'`);
		assert.equal(stderr, '');
		assert.match(stdout, /^show\t/m);
	});
});
