import type { z } from 'zod';
import type { aliasInput, aliasRecord, joinPreview, joinResult, listAuthoritiesInput, undoResult } from '#administration/authorities.ts';
import type {
	dismissedRecord,
	dismissIdentityInput,
	identityInput,
	identityPreview,
	identityResult,
	previewIdentityInput,
} from '#administration/identity.ts';
import type { identityPage, listIdentityInput } from '#administration/identity-work.ts';
import type { replayRecord } from '#administration/messages.ts';
import { call } from '../../api.ts';

export type IdentityPage = z.output<typeof identityPage>;
export type IdentityPreview = z.output<typeof identityPreview>;
export type AuthorityAlias = z.output<typeof aliasRecord>;
type Pair = z.input<typeof identityInput>;

export const listIdentity = call<z.input<typeof listIdentityInput>, IdentityPage>('POST', '/sites/{site}/identity/search');
export const previewIdentity = call<z.input<typeof previewIdentityInput>, IdentityPreview>('GET', '/sites/{site}/identity/preview');
export const mergePatients = call<Pair, z.output<typeof identityResult>>('POST', '/sites/{site}/identity/merge');
export const unmergePatients = call<Pair, z.output<typeof identityResult>>('POST', '/sites/{site}/identity/unmerge');
export const dismissIdentity = call<z.input<typeof dismissIdentityInput>, z.output<typeof dismissedRecord>>(
	'POST',
	'/sites/{site}/identity/dismiss',
);
export const listAuthorities = call<z.input<typeof listAuthoritiesInput>, AuthorityAlias[]>('GET', '/sites/{site}/authorities');
export const undoAuthority = call<z.input<typeof aliasInput>, z.output<typeof undoResult>>('POST', '/sites/{site}/authorities/undo');
type Names = z.input<typeof aliasInput>;
export type JoinPreview = z.output<typeof joinPreview>;
export const previewJoin = call<Names, JoinPreview>('POST', '/sites/{site}/authorities/preview');
export const joinAuthorities = call<Names, z.output<typeof joinResult>>('POST', '/sites/{site}/authorities/join');
export const acceptMismatch = call<{ id: string; accept_mismatch: true }, z.output<typeof replayRecord>>('POST', '/messages/{id}/replay');
