import { createRequire } from 'node:module';
import { DOMParser, type Node } from '@xmldom/xmldom';
import type { Reading } from '#fhir/mapping/local-zone.ts';

/** Its own declarations bring those of browsers into every file, so it is loaded without them. */
const xpath = createRequire(import.meta.url)('xpath') as {
	useNamespaces(namespaces: Record<string, string>): {
		(path: string, node: Node): Node[];
		(path: string, node: Node, single: boolean): Node | string | number | boolean;
	};
};

/** A registry message whose patient is `patient`: the content of `<patient>`. */
/** What is beside the bytes of a message about whose sender nothing else matters. */
export const plainReading: Reading = { settings: { time_zone: 'UTC' }, hostTimeZone: 'UTC' };

export interface RegistryMessage {
	interaction?: string;
	/** Attributes of the message's id. */
	id?: string;
	acceptAckCode?: string;
	/** Content of each patient, one registration event for each. */
	patients: readonly string[];
	/** Behind subject1: replacementOf, say. */
	behind?: string;
	creationTime?: string;
	processingCode?: string;
}

export function registryMessage({ interaction = 'PRPA_IN201301UV02', patients, ...more }: RegistryMessage): string {
	const { id = 'root="1.2.3.4" extension="M1"', acceptAckCode = 'NE', behind = '', creationTime = '20260105083000+0000' } = more;
	const { processingCode = '<processingCode code="P"/>' } = more;
	const subject = (patient: string) =>
		`<subject typeCode="SUBJ"><registrationEvent classCode="REG" moodCode="EVN"><id nullFlavor="NA"/><statusCode code="active"/>` +
		`<subject1 typeCode="SBJ"><patient classCode="PAT">${patient}</patient></subject1>${behind}</registrationEvent></subject>`;
	const device = (root: string, organization: string) =>
		`<device classCode="DEV" determinerCode="INSTANCE"><id root="${root}"/><asAgent classCode="AGNT">` +
		`<representedOrganization classCode="ORG" determinerCode="INSTANCE"><id root="${organization}"/></representedOrganization></asAgent></device>`;
	return (
		`<${interaction} xmlns="urn:hl7-org:v3" ITSVersion="XML_1.0"><id ${id}/><creationTime value="${creationTime}"/>` +
		`<interactionId root="2.16.840.1.113883.1.6" extension="${interaction}"/>${processingCode}<processingModeCode code="T"/>` +
		`<acceptAckCode code="${acceptAckCode}"/><receiver typeCode="RCV">${device('1.1.1', '1.1.2')}</receiver>` +
		`<sender typeCode="SND">${device('2.2.1', '2.2.2')}</sender>` +
		`<controlActProcess classCode="CACT" moodCode="EVN">${patients.map(subject).join('')}</controlActProcess></${interaction}>`
	);
}

/** A replacementOf that names the prior patient by these attributes of its id. */
export function replacementOf(id: string): string {
	return (
		'<replacementOf typeCode="RPLC"><priorRegistration classCode="REG" moodCode="EVN"><statusCode code="obsolete"/>' +
		`<subject1 typeCode="SBJ"><priorRegisteredRole classCode="PAT"><id ${id}/></priorRegisteredRole></subject1></priorRegistration></replacementOf>`
	);
}

/** Text as XML; the reference keeps what an attribute would fold. */
export function xmlText(text: string): string {
	return text.replace(/[&<>"\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}

const select = xpath.useNamespaces({
	v3: 'urn:hl7-org:v3',
	s11: 'http://schemas.xmlsoap.org/soap/envelope/',
	s12: 'http://www.w3.org/2003/05/soap-envelope',
	wsa: 'http://www.w3.org/2005/08/addressing',
});

/** An XML document as another reader than the product's sees it. */
export class IndependentDocument {
	readonly #document: Node;

	constructor(text: string) {
		const document = new DOMParser({
			onError: (_level, message) => {
				throw new Error(message);
			},
		}).parseFromString(text, 'text/xml');
		this.#document = document;
	}

	/** Names of the nodes that an XPath finds. */
	names(path: string): string[] {
		return this.#nodes(path).map((node) => (node as Node & { localName: string }).localName);
	}

	/** Values of the attributes, or texts of the elements, that an XPath finds. */
	values(path: string): string[] {
		return this.#nodes(path).map((node) => node.nodeValue ?? node.textContent ?? '');
	}

	/** For each node that an XPath finds, the strings that XPaths relative to it give. */
	strings(path: string, ...relative: string[]): string[][] {
		return this.#nodes(path).map((node) => relative.map((inner) => String(select(`string(${inner})`, node, true))));
	}

	#nodes(path: string): Node[] {
		return select(path, this.#document);
	}
}
