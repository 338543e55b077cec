import type { z } from 'zod';
import type { addedProfiles, addProfilesInput, listProfilesInput, profileRecord, removedProfiles } from '#administration/profiles.ts';
import { call } from '../../api.ts';

export type ProfileRecord = z.output<typeof profileRecord>;
export type AddedProfiles = z.output<typeof addedProfiles>;

export const listProfiles = call<z.input<typeof listProfilesInput>, ProfileRecord[]>('GET', '/profiles');
export const addProfiles = call<z.input<typeof addProfilesInput>, AddedProfiles>('POST', '/profiles');
/** Removes one definition by its id, or with the site all of a package. */
export const removeProfiles = call<{ profile: string; site?: string }, z.output<typeof removedProfiles>>('DELETE', '/profiles/{profile}');
