import { explicitLittleEndian, implicitLittleEndian, isConvertible, sentAs } from '#dicom/transfer-syntax.ts';

/** A SOP class, and a transfer syntax in which instances of it are stored. */
export interface StoredKind {
	sopClassUid: string;
	transferSyntaxUid: string;
}

export interface OfferedContext {
	abstractSyntax: string;
	transferSyntaxes: readonly string[];
}

/** The largest number of presentation contexts of an association (PS3.8 §7.1.1.13). */
const contextsMax = 128;

/**
 * Proposes for each kind one presentation context with the transfer syntax in which it is stored. Beside those of an uncompressed one
 * stands one with the transfer syntaxes that it can be converted into, among them the default one, which PS3.5 §10.1 asks to be offered
 * for each abstract syntax. Kinds for which there is no room are left out, the first ones never.
 */
export function offeredContexts(kinds: readonly StoredKind[]): OfferedContext[] {
	const contexts: OfferedContext[] = [];
	const withDefault = new Set<string>();
	for (const { sopClassUid: abstractSyntax, transferSyntaxUid } of kinds) {
		const own = { abstractSyntax, transferSyntaxes: [transferSyntaxUid] };
		const others = [explicitLittleEndian, implicitLittleEndian].filter((uid) => uid !== transferSyntaxUid);
		const isDefault = transferSyntaxUid === implicitLittleEndian;
		const needsDefault = isConvertible(transferSyntaxUid) && !isDefault && !withDefault.has(abstractSyntax);
		const added = needsDefault ? [own, { abstractSyntax, transferSyntaxes: others }] : [own];
		if (contexts.length + added.length > contextsMax) continue;
		if (needsDefault || isDefault) withDefault.add(abstractSyntax);
		contexts.push(...added);
	}
	return contexts;
}

/** Returns the context over which an instance is sent: one that takes it as it is stored, if there is one. */
export function contextFor<Context extends { transferSyntax: string }>(stored: string, contexts: readonly Context[]): Context | undefined {
	const syntax = sentAs(
		stored,
		contexts.map(({ transferSyntax }) => transferSyntax),
	);
	return contexts.find(({ transferSyntax }) => transferSyntax === syntax);
}
