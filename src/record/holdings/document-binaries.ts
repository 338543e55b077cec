import { Failure } from '#core/failure.ts';
import type { ApplyContext } from '../apply/context.ts';
import type { Holding } from '../apply/holding.ts';
import { rowIdOf } from '../row-id.ts';

/** The bytes of documents among the Binary resources that FHIR clients write or delete; the keys are row ids. */
export const documentBinaries: Holding<Set<string>, Set<string>> = {
	name: 'document binaries',
	keys: () => new Set(),
	held: () => new Set(),
};

/** The bytes of a document are what its sender sent: no client changes or deletes them. @throws Failure `conflict` */
export function refuseDocumentBinary({ set }: ApplyContext, resourceType: string, id: string): void {
	if (resourceType !== 'Binary' || set.held(documentBinaries)?.has(rowIdOf(id)) !== true) return;
	throw new Failure('conflict', 'the Binary has the bytes of a document that a message brought; clients do not change it', {
		location: { expression: 'Binary.id' },
	});
}
