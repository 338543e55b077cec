import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import type { FieldDescription } from '../../components/field.tsx';
import { Form, text } from '../../components/form.tsx';
import { siteField } from '../../components/site-field.ts';
import { useSites } from '../../scope.ts';
import { type AddedProfiles, addProfiles } from './calls.ts';

const file: FieldDescription = {
	kind: 'file',
	name: 'file',
	label: 'File',
	required: true,
	accept: '.json,.tgz,.tar.gz,application/json,application/fhir+json,application/gzip',
	hint: 'Choose a StructureDefinition, ValueSet or CodeSystem in JSON, or a FHIR package (package.tgz). A definition with the same URL and version is replaced.',
};

/** Loads a definition or a package for a site, and tells what of a package cannot be used. */
export function AddProfiles({
	site,
	onClose,
	onAdded,
}: {
	site: string | undefined;
	onClose(): void;
	onAdded(added: AddedProfiles): void;
}) {
	const sites = useSites().filter(({ active }) => active);
	const [told, setTold] = useState<AddedProfiles>();
	const initial = { site: site ?? (sites.length === 1 ? (sites[0]?.slug ?? '') : ''), file: '' };
	if (told !== undefined) {
		return (
			<Dialog title="Some definitions cannot be used" onClose={() => onAdded(told)}>
				<p>{loaded(told)} These files were passed over:</p>
				<ul>
					{told.passed_over.map(({ file: name, reason }) => (
						<li key={name}>
							<code>{name}</code>: {reason}
						</li>
					))}
				</ul>
				<div class="actions">
					<Button kind="primary" onClick={() => onAdded(told)}>
						Close
					</Button>
				</div>
			</Dialog>
		);
	}
	return (
		<Dialog title="Load profiles" onClose={onClose}>
			<Form
				groups={[{ fields: [siteField(sites), file] }]}
				initial={initial}
				action="Load"
				onCancel={onClose}
				onSubmit={async (values) => {
					const added = await addProfiles({ site: text(values, 'site'), file: text(values, 'file') });
					if (added.passed_over.length === 0) onAdded(added);
					else setTold(added);
				}}
			/>
		</Dialog>
	);
}

export function loaded({ added, site, package: from }: AddedProfiles): string {
	const what = added === 1 ? 'One definition is' : `${added} definitions are`;
	return `${what} loaded for ${site}${from === '' ? '' : ` from ${from}`}.`;
}
