import { bundled } from './bundled-source.ts';
import { type Definition, DefinitionSet, Library } from './library.ts';

/**
 * Makes the library of a site from the texts of the definitions that it has loaded; they go before those that ship with the product. A text
 * that cannot be read is reported and left out.
 */
export function siteLibrary(contents: readonly string[], report: (error: unknown) => void): Library {
	const definitions = contents.flatMap((content): Definition[] => {
		try {
			return [JSON.parse(content)];
		} catch (error) {
			report(error);
			return [];
		}
	});
	return new Library(new DefinitionSet(definitions), bundled());
}
