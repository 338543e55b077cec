import type { DefinitionDirectory } from '#access/directory.ts';
import type { Log } from '#core/log.ts';
import { bundledLibrary } from '#fhir/profiles/bundled-source.ts';
import type { Library } from '#fhir/profiles/library.ts';
import { siteLibrary } from '#fhir/profiles/site-library.ts';
import type { Reader } from '#storage/reader.ts';
import { noDefinitions, SiteDefinitions } from '#storage/site-definitions.ts';

/** The profiles and terms of sites, as the main thread looks them up: for terminology, and for searches by value sets. */
export class SiteLibraries {
	readonly #directory: DefinitionDirectory;
	readonly #reader: Reader;
	readonly #definitions: SiteDefinitions<Library>;

	/** The reader is that of the primary, because a replica may not have what the access snapshot tells of. */
	constructor(directory: DefinitionDirectory, reader: Reader, log: Log) {
		this.#directory = directory;
		this.#reader = reader;
		this.#definitions = new SiteDefinitions((siteId, contents) =>
			siteLibrary(contents, (err) => log.error({ err, siteId }, 'a loaded definition cannot be read')),
		);
	}

	/** The number of the state of a site's definitions; undefined for a site that has loaded none. */
	versionOf(siteId: string): string | undefined {
		const version = this.#directory.definitionsVersionOf(siteId);
		return version === noDefinitions ? undefined : version;
	}

	/** @throws Failure `unavailable` */
	async of(siteId: string): Promise<Library> {
		const version = this.versionOf(siteId);
		if (version === undefined) return bundledLibrary();
		await this.#definitions.prepare(this.#reader, siteId, version);
		return this.#definitions.of(siteId) ?? bundledLibrary();
	}
}
