import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { configuration, configurationMarkdown, settingsMarkdown } from '#cli/configuration.ts';
import { environmentSchema, readConfig, secretFileOf, secretVariables } from '../../src/config.ts';
import { limitDefinitions } from '../../src/limits.ts';

describe('configuration', () => {
	test('docs/configuration.md is what `tributary config --markdown` prints', () => {
		assert.equal(readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8'), configurationMarkdown());
	});

	test('docs/settings.md is what `tributary config --settings --markdown` prints', () => {
		assert.equal(readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8'), settingsMarkdown());
	});

	test('every variable and every limit is listed once, with a meaning', () => {
		const records = configuration(undefined);
		const withFiles = Object.keys(environmentSchema.shape).flatMap((variable) =>
			secretVariables.includes(variable) ? [variable, secretFileOf(variable)] : [variable],
		);
		const expected = [...withFiles, ...Object.values(limitDefinitions).map(({ variable }) => variable)];
		assert.deepEqual(
			records.map(({ variable }) => variable),
			expected,
		);
		assert.equal(new Set(expected).size, expected.length);
		assert.deepEqual(
			records.filter(({ meaning }) => meaning === ''),
			[],
		);
	});

	test('effective values are shown, a database URL is not', () => {
		const config = readConfig({
			DATABASE_URL: 'postgresql://tributary:secret@db/tributary',
			FHIR_PORT: '9000',
			TRUSTED_PROXIES: '10.0.0.1, 10.1.0.0/16',
			AWS_SECRET_ACCESS_KEY: 'a secret',
			AWS_SESSION_TOKEN: 'another secret',
		});
		const shown = new Map(configuration(config).map(({ variable, value }) => [variable, value]));
		assert.equal(shown.get('DATABASE_URL'), '(set, not shown)');
		assert.equal(shown.get('DATABASE_READ_URL'), 'unset');
		assert.equal(shown.get('FHIR_PORT'), '9000');
		assert.equal(shown.get('TRUSTED_PROXIES'), '10.0.0.1,10.1.0.0/16');
		assert.ok(![...shown.values()].some((value) => value.includes('secret')));
	});

	test('a wrong variable is named, whatever is wrong with it', () => {
		const wrong: [Record<string, string>, string][] = [
			[{ FHIR_PORT: '70000' }, 'FHIR_PORT'],
			[{ DATABASE_URL: 'mysql://db' }, 'DATABASE_URL'],
			[{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL'],
			[{ ALLOW_PLAINTEXT: 'yes' }, 'ALLOW_PLAINTEXT'],
			[{ TLS_CERT_FILE: 'cert.pem' }, 'TLS_KEY_FILE'],
			[{ MLLP_TLS_PORT: '2575' }, 'MLLP_TLS_PORT'],
			[{ SMTP_URL: 'smtp://mail.example.org' }, 'SMTP_FROM'],
			[{ SMTP_URL: 'smtp://ann:secret@mail.example.org', SMTP_FROM: 'a@example.org' }, 'SMTP_URL'],
			[{ SMTP_URL: 'smtp://ann@mail.example.org', SMTP_FROM: 'a@example.org' }, 'SMTP_PASSWORD'],
			[{ SMTP_URL: 'smtp://mail.example.org', SMTP_FROM: 'a@example.org', SMTP_PASSWORD: 'secret' }, 'SMTP_PASSWORD'],
			[{ OBJECT_STORE_URL: 'https://bucket' }, 'OBJECT_STORE_URL'],
			[{ OBJECT_STORE_URL: 's3://Bucket' }, 'OBJECT_STORE_URL'],
			[{ OBJECT_STORE_URL: 's3://bucket/a', AWS_ACCESS_KEY_ID: 'key' }, 'AWS_SECRET_ACCESS_KEY'],
			[{ OBJECT_STORE_URL: 's3://bucket/a', AWS_SECRET_ACCESS_KEY: 'key' }, 'AWS_ACCESS_KEY_ID'],
			[{ AWS_ENDPOINT_URL_S3: 'minio:9000' }, 'AWS_ENDPOINT_URL_S3'],
			[{ HOST: '0.0.0.0' }, 'HOST'],
			[{ ADMIN_HOST: '0.0.0.0' }, 'ADMIN_HOST'],
			[{ HOST: '127.example.org' }, 'HOST'],
			[{ HOST: '0.0.0.0', TRUSTED_PROXIES: 'abc' }, 'TRUSTED_PROXIES'],
			[{ TRUSTED_PROXIES: '10.0.0.1,10.0.0.0/99' }, 'TRUSTED_PROXIES'],
			[{ TRUSTED_PROXIES: '*' }, 'TRUSTED_PROXIES'],
			[{ ALLOWED_TARGETS: '10.1' }, 'ALLOWED_TARGETS'],
			...Object.values(limitDefinitions).map(({ variable, max }): [Record<string, string>, string] => [
				{ [variable]: String(max + 1) },
				variable,
			]),
		];
		for (const [environment, variable] of wrong) {
			assert.throws(() => readConfig(environment), { name: 'ConfigurationError', variable }, variable);
		}
	});

	test('every secret may stand in a file; one that cannot be read, is empty, or is given twice is named', (t) => {
		const folder = mkdtempSync(join(tmpdir(), 'tributary-secrets-'));
		t.after(() => rmSync(folder, { recursive: true }));
		const [url, empty] = [join(folder, 'url'), join(folder, 'empty')];
		writeFileSync(url, 'postgresql://tributary:secret@db/tributary\n');
		writeFileSync(empty, '\n');
		assert.ok(secretVariables.length > 4, secretVariables.join());
		const config = readConfig({ DATABASE_URL_FILE: url, DATABASE_READ_URL_FILE: '' });
		assert.equal(config.DATABASE_URL, 'postgresql://tributary:secret@db/tributary');
		const shown = new Map(configuration(config).map(({ variable, value }) => [variable, value]));
		assert.deepEqual([shown.get('DATABASE_URL'), shown.get('DATABASE_URL_FILE')], ['(set, not shown)', url]);
		for (const variable of secretVariables) {
			const file = secretFileOf(variable);
			for (const path of [join(folder, 'none'), empty, folder])
				assert.throws(() => readConfig({ [file]: path }), { name: 'ConfigurationError', variable: file }, `${file} ${path}`);
			assert.throws(() => readConfig({ [variable]: 'x', [file]: url }), { name: 'ConfigurationError', variable: file });
		}
		assert.throws(() => readConfig({ SECOND_FACTOR_KEY_FILE: url }), { name: 'ConfigurationError', variable: 'SECOND_FACTOR_KEY' });
	});

	test('an empty variable is an unset one', () => {
		assert.equal(readConfig({ DATABASE_URL: '', FHIR_PORT: '' }).FHIR_PORT, 8080);
	});
});
