import type { AccessDirectory } from '#access/directory.ts';
import type { AccessMetrics } from '#access/metrics.ts';
import type { Tokens } from '#access/tokens/tokens.ts';
import type { ViewerTokens } from '#access/viewer-tokens.ts';
import type { Log } from '#core/log.ts';
import type { FhirLimits } from '#fhir/limits.ts';
import type { InstanceEntry } from '#imaging/intake.ts';
import type { ImagingLimits } from '#imaging/limits.ts';
import type { RenderingLimits } from '#rendering/limits.ts';
import type { Renderer } from '#rendering/renderer.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import type { Reader } from '#storage/reader.ts';
import type { AccessNotes } from './access-notes.ts';
import type { DicomWebLimits } from './limits.ts';
import type { DicomWebMetrics } from './metrics.ts';

/** Everything that DICOMweb (PS3.18) works with. */
export interface DicomWebContext {
	directory: AccessDirectory;
	tokens: Pick<Tokens, 'areTaken' | 'grantOf'>;
	/** The links by which other viewers read single studies. */
	viewers: Pick<ViewerTokens, 'grantOf'>;
	reader: Reader;
	/** Finds objects. They are moved as soon as the primary has it, so a replica may name one that is no longer there. */
	currentReader: Reader;
	objects: Pick<ObjectStore, 'read' | 'size'>;
	intake: InstanceEntry;
	renderer: Pick<Renderer, 'open' | 'frame'>;
	accesses: Pick<AccessNotes, 'note'>;
	limits: DicomWebLimits & ImagingLimits & FhirLimits & RenderingLimits;
	metrics: AccessMetrics & DicomWebMetrics;
	log: Log;
}
