import type { z } from 'zod';
import type { addSiteInput, ShownSite, SiteRecord, setSiteInput } from '#administration/sites.ts';
import { call } from '../../api.ts';
import type { ReplayRun } from '../failures/calls.ts';

/** A zone may be set so that stored times are read anew. */
export type Rederiving<Input> = Input & { rederive?: boolean; preview?: boolean };
export type Rederived<Record> = Record & { rederivation?: ReplayRun };

export const listSites = call<object, SiteRecord[]>('GET', '/sites');
export const showSite = call<{ slug: string }, ShownSite>('GET', '/sites/{slug}');
export const addSite = call<z.input<typeof addSiteInput>, SiteRecord>('POST', '/sites');
export const setSite = call<Rederiving<z.input<typeof setSiteInput>>, Rederived<SiteRecord>>('PATCH', '/sites/{slug}');
export const disableSite = call<{ slug: string }, SiteRecord>('POST', '/sites/{slug}/disable');
export const enableSite = call<{ slug: string }, SiteRecord>('POST', '/sites/{slug}/enable');
